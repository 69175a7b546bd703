#include "vocabulary.hpp"

#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace synth {
namespace {

// Pieces that become one token each, so that a prompt of 128 tokens has room for its frame. ^ is a blank, ~ a new line.
constexpr const char* kPieces =
    "system Read ^the ^complete ^state ^and ^schema ^Decide ^every ^field ^jointly ^Each ^answer ^must ^be ^exactly "
    "^one ^of ^that ^allowed ^options user STATE SCHEMA ^SCHEMA ^FIELDS FIELD ^FIELD ID TYPE INSTRUCTION ALLOWED "
    "^OPTIONS OPTION END assistant JOINT ^DECISIONS ^noul ^choice ^score ^true ^false true false The ^proposition ^is "
    "^or ^yes ^no description option _id {\" \":\" \",\" .\",\" \"} :~ ~~ 's ^The ^this ^customer ^order ^refund "
    "^money "
    "^back ^was ^charged ^twice ^please ^send ^it ^today ^with ^for ^to ^in ^a ^on ^as ^by ^from ^at ^are ^has ^have "
    "^which ^been";

// The byte-level alphabet: printable bytes stand for themselves, the others for characters from 256 on.
std::string byte_character(int byte) {
  const auto plain = [](int b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  int code = byte;
  if (!plain(byte)) {
    code = 256;
    for (int b = 0; b < byte; ++b) code += plain(b) ? 0 : 1;
  }
  if (code < 128) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
}

class Builder {
 public:
  explicit Builder(int64_t size) : size_(static_cast<size_t>(size)) {}

  Vocabulary build() {
    for (int byte = 0; byte < 256; ++byte) add(byte_character(byte), 1);
    add_pieces();
    out_.end_of_text = add("<|endoftext|>", 3);
    add("<|im_start|>", 3);
    out_.end_of_turn = add("<|im_end|>", 3);
    for (const char* name : {"<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"})
      add(name, 3);
    add("<think>", 4), add("</think>", 4);
    if (out_.tokens.size() > size_)
      throw std::runtime_error("the vocabulary needs at least " + std::to_string(out_.tokens.size()) + " tokens");
    while (out_.tokens.size() < size_) add("[PAD" + std::to_string(out_.tokens.size()) + "]", 5);
    return std::move(out_);
  }

 private:
  uint32_t add(std::string token, int32_t type) {
    out_.tokens.push_back(std::move(token)), out_.types.push_back(type);
    return static_cast<uint32_t>(out_.tokens.size() - 1);
  }
  // For each piece, what the merges so far leave of it is joined from the left. Later merges rank behind the earlier
  // ones, so that pieces stay one token each.
  void add_pieces() {
    std::istringstream pieces(kPieces);
    for (std::string piece; pieces >> piece;) {
      std::vector<std::string> parts = split(piece);
      for (; parts.size() > 1; parts.erase(parts.begin() + 1)) {
        ranks_.try_emplace({parts[0], parts[1]}, ranks_.size());
        out_.merges.push_back(parts[0] + " " + parts[1]);
        parts[0] += parts[1];
        add(parts[0], 1);
      }
    }
  }
  // The tokens of a piece by the merges so far.
  std::vector<std::string> split(const std::string& piece) const {
    std::vector<std::string> parts;
    for (const char c : piece)
      parts.push_back(byte_character(c == '^' ? ' ' : c == '~' ? '\n' : static_cast<unsigned char>(c)));
    for (;;) {
      size_t best = parts.size(), rank = ranks_.size();
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto found = ranks_.find({parts[i], parts[i + 1]});
        if (found != ranks_.end() && found->second < rank) best = i, rank = found->second;
      }
      if (best == parts.size()) return parts;
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + static_cast<ptrdiff_t>(best) + 1);
    }
  }

  size_t size_;
  Vocabulary out_;
  std::map<std::pair<std::string, std::string>, size_t> ranks_;  // of merges
};

}  // namespace

Vocabulary make_vocabulary(int64_t size) {
  return Builder(size).build();
}

}  // namespace synth
