// The orientation in EXIF data. Inside src/media only.
#pragma once
#include "media/codec.hpp"

namespace clef::media {

// `exif`: a TIFF block, with or without "Exif\0\0" before it. The tag 0x0112 of its first directory, 1 to 8; 1 where
// there is none or where the data are broken. No other directory is followed, so there is nothing to loop in.
int exif_orientation(Bytes exif) noexcept;

}  // namespace clef::media
