// Tells kinds of pictures apart by their first bytes. Inside src/media only.
#pragma once
#include "media/codec.hpp"

namespace clef::media {

// Errors: empty, unsupported (another kind of picture, named), invalid_value (nothing known).
base::Result<Format> recognise(Bytes bytes);

}  // namespace clef::media
