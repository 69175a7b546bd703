// A model's files, recognised: what they are, their geometry, their tensors under canonical names.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hooks.hpp"
#include "base/status.hpp"
#include "container/gguf.hpp"
#include "container/tensor_view.hpp"
#include "io/source.hpp"
#include "model/config.hpp"
#include "text/tokenizer.hpp"

namespace clef::model {

// What the caller gave: paths (file, directory, first part), or open sources under the names of the release's files.
struct Files {
  struct Entry {
    std::string name;  // may be empty for a path
    std::string path;  // empty when `source` is set
    io::SourcePtr source;
  };
  std::vector<Entry> entries;
};

enum class Kind : uint8_t { release, gguf };

// How the numbers of a container are meant (model names in the two families of files).
struct Conventions {
  bool norms_zero_centred = false;  // multiply by 1 + w (release layout), not by w (GGUF)
  bool a_log_raw = false;           // A_log itself, not -exp(A_log)
  bool value_heads_tiled = false;   // GGUF order
};

// How the decision head is stored. The release's names go with raw scales and joined q, k, v projections; those of GGUF
// files with scales already exponentiated or passed through the sigmoid, and with separate projections.
struct HeadForm {
  bool release_names = true;
  std::string prefix;     // before every name; "clef." in the files of Ollama
  std::string file;       // that ought to hold its tensors, for messages
  bool own_file = false;  // and nothing else
};

struct FileEntry {
  std::string name;
  uint64_t bytes = 0;
  io::SourcePtr source;
  uint64_t header_bytes = 0;  // what stands before the weights; all of a JSON file
};

struct Package {
  Kind kind = Kind::release;
  std::string kind_name;  // "release layout", "GGUF (clef)"
  std::string name;       // of the directory, or of the file without its ending and split number; never a path
  Config config;
  Conventions conventions;
  HeadForm head;
  std::vector<container::TensorView> tensors;  // under the names of the file, sorted by them
  std::string name_prefix;                     // of the backbone's tensors ("model.language_model."), release only
  std::vector<FileEntry> files;
  bool has_vision = false;
  io::SourcePtr projector;                      // a GGUF file with the vision part; null when the model holds it itself
  std::shared_ptr<const container::Gguf> gguf;  // kind gguf
  io::SourcePtr tokenizer_json;                 // kind release
  io::SourcePtr config_json, processor_json;    // kind release; the second may be null

  const container::TensorView* find(std::string_view name) const noexcept;
  // The matrix whose rows options are compared with; nullptr when the embeddings serve for it. missing_part without either.
  base::Result<const container::TensorView*> language_head() const;
  // The file that ought to hold the backbone's tensors, for messages about missing ones.
  std::string backbone_file() const;
};

// Whether a tensor of a release belongs to the vision tower.
bool is_vision_tensor(std::string_view name) noexcept;

// The geometry alone stands in the first kilobytes of each file: weights are not touched.
// Opens and recognises files. Errors: not_found, not_clef (what it is, what to do), missing_part (which file),
// bad_file.
base::Result<Package> open_package(const Files& files);

// The tokenizer of a package, or of files that hold nothing but a tokenizer.json (or a GGUF).
base::Result<text::Tokenizer> load_tokenizer(const Package& package, text::PreTokenizer rule);
base::Result<text::Tokenizer> load_tokenizer(const Files& files, text::PreTokenizer rule);

// JSON for people and tools: kind, files, geometry, limits, tokenizer rule, tensors when asked for.
std::string describe(const Package& package, const text::Tokenizer* tokenizer, bool with_tensors);

}  // namespace clef::model
