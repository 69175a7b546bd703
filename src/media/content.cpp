#include "media/content.hpp"

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

using namespace std::string_view_literals;

namespace {

constexpr std::string_view kAdvice = "; convert it to PNG, JPEG or WebP";

struct Signature {
  std::string_view start;
  std::string_view name;
};

// Kinds that people try and that are not read.
constexpr Signature kOthers[] = {
    {"GIF87a"sv, "GIF"},
    {"GIF89a"sv, "GIF"},
    {"BM"sv, "BMP"},
    {"II*\0"sv, "TIFF"},
    {"MM\0*"sv, "TIFF"},
    {"II+\0"sv, "BigTIFF"},
    {"MM\0+"sv, "BigTIFF"},
    {"\0\0\1\0"sv, "ICO"},
    {"8BPS"sv, "Photoshop"},
    {"\xff\x0a"sv, "JPEG XL"},
    {"\0\0\0\x0cJXL \r\n\x87\n"sv, "JPEG XL"},
    {"\0\0\0\x0cjP  \r\n\x87\n"sv, "JPEG 2000"},
    {"\xff\x4f\xff\x51"sv, "JPEG 2000"},
    {"%PDF-"sv, "PDF"},
    {"qoif"sv, "QOI"},
};

// Brands of the container that AVIF, HEIC and MP4 share.
std::string_view brand_name(std::string_view brand) {
  constexpr Signature kBrands[] = {{"avif", "AVIF"}, {"avis", "AVIF"}, {"heic", "HEIC"},
                                   {"heix", "HEIC"}, {"heim", "HEIC"}, {"heis", "HEIC"},
                                   {"hevc", "HEIC"}, {"mif1", "HEIF"}, {"msf1", "HEIF"}};
  for (const Signature& known : kBrands)
    if (brand == known.start) return known.name;
  return "MP4 video";
}

bool is_svg(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text = text.substr(0, 1024);
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text[start] == '<' && text.find("<svg") != std::string_view::npos;
}

Status refuse(std::string_view name) {
  return Status(Code::unsupported,
                "the picture is " + std::string(name) + ", which is not read" + std::string(kAdvice));
}

}  // namespace

Result<Format> recognise(Bytes bytes) {
  const std::string_view text = text_at(bytes, 0, bytes.size());
  if (text.empty()) return Status(Code::empty, "the picture has no bytes");
  if (text.starts_with("\xff\xd8\xff")) return Format::jpeg;
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return Format::png;
  if (text.starts_with("RIFF") && text_at(bytes, 8, 4) == "WEBP") return Format::webp;
  for (const Signature& other : kOthers)
    if (text.starts_with(other.start)) return refuse(other.name);
  if (text_at(bytes, 4, 4) == "ftyp") return refuse(brand_name(text_at(bytes, 8, 4)));
  if (is_svg(text)) return refuse("SVG");
  return Status(Code::invalid_value, "the picture's content (" + std::to_string(bytes.size()) +
                                         " bytes) is no picture that is known" + std::string(kAdvice));
}

}  // namespace clef::media
