// A loaded model: configuration, tokenizer, weights. Immutable; shared by any number of sessions.
#pragma once
#include <memory>
#include <string>

#include "base/hooks.hpp"
#include "base/lazy.hpp"
#include "base/memory.hpp"
#include "model/package.hpp"
#include "model/vision.hpp"
#include "model/weights.hpp"

namespace clef::model {

enum class Compute : uint8_t { automatic, exact, bf16, int8 };

struct LoadOptions {
  Compute compute = Compute::automatic;
  text::PreTokenizer pre_tokenizer = text::PreTokenizer::automatic;
  bool copy_weights = false;
  bool check_weights = true;
  base::Hooks hooks;
};

class Model {
 public:
  static base::Result<std::shared_ptr<const Model>> load(const Files& files, const LoadOptions& options,
                                                         base::Memory& memory);
  const Config& config() const noexcept { return package_.config; }
  const Package& package() const noexcept { return package_; }
  const text::Tokenizer& tokenizer() const noexcept { return *tokenizer_; }
  const Weights& weights() const noexcept { return weights_; }
  // The vision part, loaded by the first call. missing_part when there is none. Thread-safety: any number of threads.
  base::Result<const Vision*> vision(base::Watch& watch) const;
  // SHA-256-sized hexadecimal digest of names, sizes and headers of the files.
  const std::string& digest() const noexcept { return digest_; }
  // The directory or file name without its extension: what a response's "model" says when the request names none.
  const std::string& name() const noexcept { return name_; }
  std::string describe() const;

 private:
  Package package_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  Weights weights_;
  WeightOptions weight_options_;
  base::Memory* memory_ = nullptr;
  mutable base::Lazy<Vision> vision_;
  std::string digest_, name_;
};

}  // namespace clef::model
