// decode.hpp for builds without image libraries (CLEF_WITH_MEDIA=OFF).
#include "media/content.hpp"

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

namespace {

Status refuse(Bytes bytes) {
  CLEF_ASSIGN_OR_RETURN(const Format format, recognise(bytes));
  return Status(Code::unsupported, "this build has no decoders for pictures (CLEF_WITH_MEDIA=OFF), so the " +
                                       std::string(format_name(format)) +
                                       " picture cannot be read; give its pixels instead");
}

}  // namespace

Result<ImageInfo> probe(Bytes bytes, const DecodeOptions&) {
  return refuse(bytes);
}

Result<Image> decode(Bytes bytes, const DecodeOptions&, base::Memory&) {
  return refuse(bytes);
}

}  // namespace clef::media
