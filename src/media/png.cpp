// PNG by libpng. Of an animated PNG the default picture is taken.
#include <png.h>

#include <algorithm>
#include <cstring>

#include "media/alpha.hpp"
#include "media/exif.hpp"

namespace clef::media {

using base::Code;
using base::Result;

namespace {

constexpr size_t kSignatureBytes = 8, kHeaderBytes = 13;
constexpr size_t kChunkAround = 12;  // length, name, checksum
constexpr uint32_t kAlphaBit = 4;    // of the colour type

struct Chunk {
  std::string_view name;
  Bytes data;
};

// The chunk at `at`, which moves behind it; an empty name when no whole chunk is left.
Chunk next_chunk(Bytes bytes, size_t& at) noexcept {
  if (bytes.size() - at < kChunkAround) return {};
  const uint64_t length = big32(bytes, at);
  if (length > bytes.size() - at - kChunkAround) return {};
  const Chunk chunk{text_at(bytes, at + 4, 4), bytes.subspan(at + 8, static_cast<size_t>(length))};
  at += kChunkAround + static_cast<size_t>(length);
  return chunk;
}

// Everything libpng's callbacks and the guarded steps need. Plain data: libpng leaves by longjmp.
struct Job {
  png_structp png;
  png_infop info;
  Bytes bytes;
  size_t at;
  base::Memory* memory;
  bool ended;  // more was asked for than there is
  char message[128];

  bool drop_alpha;
  int passes;
  size_t row_bytes;
  bool grey16;  // two bytes a pixel; else RGB or, with alpha, RGBA
  bool alpha;   // RGBA
  bool keyed;   // grey16 with one transparent value
  uint32_t key;
  uint8_t* rows;  // step 2: whole rows, `stride` apart
  size_t stride;
};

// Blocks begin with their size, since libpng does not remember it.
png_voidp take(png_structp png, png_alloc_size_t size) {
  Job& job = *static_cast<Job*>(png_get_mem_ptr(png));
  if (size > SIZE_MAX / 2) return nullptr;
  const size_t whole = static_cast<size_t>(size) + base::kAlignment;
  auto* block = static_cast<char*>(job.memory->allocate(whole));
  if (!block) return nullptr;
  std::memcpy(block, &whole, sizeof(whole));
  return block + base::kAlignment;
}

void give_back(png_structp png, png_voidp pointer) {
  if (!pointer) return;
  Job& job = *static_cast<Job*>(png_get_mem_ptr(png));
  char* block = static_cast<char*>(pointer) - base::kAlignment;
  size_t whole;
  std::memcpy(&whole, block, sizeof(whole));
  job.memory->free(block, whole);
}

[[noreturn]] void fail(png_structp png, png_const_charp message) {
  Job& job = *static_cast<Job*>(png_get_error_ptr(png));
  size_t length = 0;
  while (length + 1 < sizeof(job.message) && message[length] != 0) ++length;
  std::memcpy(job.message, message, length);
  job.message[length] = 0;
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep out, size_t size) {
  Job& job = *static_cast<Job*>(png_get_io_ptr(png));
  if (size > job.bytes.size() - job.at) {
    job.ended = true;
    png_error(png, "the file ends early");
  }
  std::memcpy(out, job.bytes.data() + job.at, size);
  job.at += size;
}

// Runs one step; false when libpng reported an error. No object with a destructor may live in here or in a step.
bool guarded(Job& job, void (*step)(Job&)) {
  if (setjmp(png_jmpbuf(job.png))) return false;
  step(job);
  return true;
}

void read_header(Job& job) {
  png_set_read_fn(job.png, &job, read_bytes);
  png_set_crc_action(job.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_user_limits(job.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);             // our own limit was checked before
  png_set_keep_unknown_chunks(job.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);  // only what pixels need is parsed
  png_read_info(job.png, job.info);
  const png_byte type = png_get_color_type(job.png, job.info);
  const bool key = png_get_valid(job.png, job.info, PNG_INFO_tRNS) != 0;
  job.grey16 = type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(job.png, job.info) == 16;
  if (job.grey16) {
    png_color_16p grey = nullptr;
    job.keyed = key && !job.drop_alpha && png_get_tRNS(job.png, job.info, nullptr, nullptr, &grey) != 0;
    if (job.keyed) job.key = grey->gray;
  } else {
    job.alpha = (key || (type & PNG_COLOR_MASK_ALPHA) != 0) && !job.drop_alpha;
    png_set_expand(job.png);
    png_set_strip_16(job.png);
    png_set_gray_to_rgb(job.png);
    if (!job.alpha) png_set_strip_alpha(job.png);
  }
  job.passes = png_set_interlace_handling(job.png);
  png_read_update_info(job.png, job.info);
  job.row_bytes = png_get_rowbytes(job.png, job.info);
}

void read_row(Job& job) {
  png_read_row(job.png, job.rows, nullptr);
}

// Interlaced pictures come in passes over all rows.
void read_passes(Job& job) {
  const png_uint_32 height = png_get_image_height(job.png, job.info);
  for (int pass = 0; pass < job.passes; ++pass)
    for (png_uint_32 y = 0; y < height; ++y) png_read_row(job.png, job.rows + job.stride * y, nullptr);
}

// `in` may lie in `out`, at its end.
void finish_row(const Job& job, const uint8_t* in, uint8_t* out, uint32_t width) noexcept {
  if (job.alpha) return rgba_to_rgb(in, out, width, false);
  if (!job.grey16) {
    if (in != out) std::memcpy(out, in, kChannels * size_t{width});
    return;
  }
  for (uint32_t x = 0; x < width; ++x, in += 2, out += 3) {
    const uint32_t value = uint32_t{in[0]} << 8 | in[1];
    const uint32_t grey = job.keyed && value == job.key ? 255 : std::min<uint32_t>(value, 255);
    out[0] = out[1] = out[2] = static_cast<uint8_t>(grey);
  }
}

base::Status failure(const Job& job) {
  if (job.ended) return cut_off(Format::png, job.bytes);
  return broken(Format::png, job.bytes, job.message);
}

// Owns libpng's structures.
struct Structures {
  Job& job;
  explicit Structures(Job& owner) : job(owner) {
    job.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &job, fail, ignore_warning, &job, take, give_back);
    if (job.png) job.info = png_create_info_struct(job.png);
  }
  Structures(const Structures&) = delete;
  Structures& operator=(const Structures&) = delete;
  ~Structures() { png_destroy_read_struct(&job.png, &job.info, nullptr); }
};

}  // namespace

Result<ImageInfo> probe_png(Bytes bytes) {
  size_t at = kSignatureBytes;
  const Chunk header = next_chunk(bytes, at);
  if (header.name.empty()) return cut_off(Format::png, bytes);
  if (header.name != "IHDR" || header.data.size() != kHeaderBytes)
    return broken(Format::png, bytes, "it does not begin with a header");
  ImageInfo info;
  info.format = Format::png;
  info.width = big32(header.data, 0);
  info.height = big32(header.data, 4);
  info.alpha = (byte_at(header.data, 9) & kAlphaBit) != 0;
  bool pixels_begun = false;
  for (Chunk chunk = next_chunk(bytes, at); !chunk.name.empty() && chunk.name != "IEND";
       chunk = next_chunk(bytes, at)) {
    if (chunk.name == "IDAT") pixels_begun = true;
    if (chunk.name == "tRNS" && !pixels_begun) info.alpha = true;
    if (chunk.name == "eXIf") info.orientation = exif_orientation(chunk.data);
  }
  return info;
}

Result<Image> decode_png(Bytes bytes, const ImageInfo& info, bool drop_alpha, base::Memory& memory) {
  Job job{};
  job.bytes = bytes;
  job.memory = &memory;
  job.drop_alpha = drop_alpha;
  const Structures structures(job);
  if (!job.info) return base::Status(Code::out_of_memory, "a PNG decoder could not be made");
  if (!guarded(job, read_header)) return failure(job);
  const size_t pixel_bytes = job.alpha ? 4 : job.grey16 ? 2 : kChannels;
  if (job.row_bytes != pixel_bytes * info.width || png_get_image_height(job.png, job.info) != info.height)
    return broken(Format::png, bytes, "its rows are not what the header says");

  Image image{info.width, info.height, {}};
  job.stride = std::max(pixel_bytes, size_t{kChannels}) * info.width;
  if (job.passes == 1) {
    CLEF_ASSIGN_OR_RETURN(image, create_image(info.width, info.height, memory));
    CLEF_ASSIGN_OR_RETURN(const base::Buffer row, base::Buffer::create(memory, job.row_bytes, "a row of a picture"));
    job.rows = row.as<uint8_t>();
    for (uint32_t y = 0; y < info.height; ++y) {
      if (!guarded(job, read_row)) return failure(job);
      finish_row(job, job.rows, image.row(y), info.width);
    }
    return image;
  }
  CLEF_ASSIGN_OR_RETURN(image.pixels,
                        base::Buffer::create(memory, uint64_t{job.stride} * info.height, "the pixels of a picture"));
  job.rows = image.pixels.as<uint8_t>() + (job.stride - job.row_bytes);  // so that rows can be finished in place
  if (!guarded(job, read_passes)) return failure(job);
  for (uint32_t y = 0; y < info.height; ++y) finish_row(job, job.rows + job.stride * y, image.row(y), info.width);
  return image;
}

}  // namespace clef::media
