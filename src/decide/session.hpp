// One decision at a time on scratch memory of its own.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu.hpp"
#include "base/executor.hpp"
#include "base/hooks.hpp"
#include "base/memory.hpp"
#include "decide/decision.hpp"
#include "decide/media.hpp"
#include "device/device.hpp"
#include "model/model.hpp"
#include "schema/prompt.hpp"

namespace clef::decide {

struct Options {
  int64_t max_tokens = 0;  // 0: the model's limit
  schema::Truncation truncation = schema::Truncation::refuse;
  text::SpecialText user_text = text::SpecialText::literal;
  int64_t chunk = 0;          // 0: chosen by memory; rounded up to a multiple of 64
  uint64_t memory_limit = 0;  // of the session's scratch; 0: none
  MediaOptions media;
  base::Hooks hooks;
};

// A decision being made: the prompt is encoded at start, each step runs one chunk of one layer or one part of the head.
class Run {
 public:
  ~Run();
  // Works once; sets finished. After an error the run is over.
  base::Status step(bool& finished);
  uint64_t done() const noexcept;
  uint64_t total() const noexcept;
  Decision take() &&;  // only when finished

 private:
  friend class Session;
  struct Impl;
  explicit Run(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

class Session {
 public:
  // The executor and the memory outlive the session.
  Session(std::shared_ptr<const model::Model> model, base::Executor& executor, base::IsaLevel level,
          base::Memory& memory);
  ~Session();

  // The bytes behind `media` live as long as its owners.
  base::Result<std::unique_ptr<Run>> start(const schema::Schema& schema, std::string_view state, const Options& options,
                                           Media media = {});
  // start, then steps to the end.
  base::Result<Decision> decide(const schema::Schema& schema, std::string_view state, const Options& options,
                                Media media = {});

  const model::Model& model() const noexcept { return *model_; }
  base::Memory& memory() noexcept { return memory_; }
  const char* kernels_in_use() const noexcept;

 private:
  std::shared_ptr<const model::Model> model_;
  base::Memory memory_;
  std::unique_ptr<device::Device> device_;
};

// A prompt with its pieces, as a decision with the same arguments reads it. No weights are touched.
base::Result<schema::Prompt> make_prompt(const model::Model& model, const schema::Schema& schema,
                                         std::string_view state, const Options& options, Media media,
                                         base::Memory& memory);

// Tokens of such a prompt: everything but the state, and the state alone, whole.
base::Result<schema::TokenCounts> count_tokens(const model::Model& model, const schema::Schema& schema,
                                               std::string_view state, const Options& options, Media media,
                                               base::Memory& memory);

// Bytes that a decision of `tokens` and up to 64 questions takes at most beside the weights, computed by `threads`.
// out_of_range for more tokens than the model takes.
base::Result<uint64_t> estimate_scratch(const model::Config& config, uint64_t tokens, int64_t chunk, uint32_t threads);

}  // namespace clef::decide
