// The joint schema head: hidden rows of one prompt become one logit per option of every question.
//
// Everything that grows with the number of tokens is streamed in chunks: span means are summed as chunks pass, the
// memory rows overwrite the hidden rows, and each attention over the memory projects its keys and values chunk by chunk
// into an online softmax.
#pragma once
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "device/device.hpp"
#include "layers/buffers.hpp"
#include "model/config.hpp"
#include "model/executor.hpp"
#include "model/weights.hpp"
#include "schema/prompt.hpp"
#include "schema/request.hpp"

namespace clef::decide {

class Head {
 public:
  // The pass has finished and holds one sequence; all arguments outlive the head.
  static base::Result<std::unique_ptr<Head>> create(const model::Config& config, const model::Weights& weights,
                                                    device::Device& device, model::Pass& pass,
                                                    const schema::Schema& schema, const schema::Prompt& prompt);
  // Works on one chunk of one part.
  base::Status step();
  bool finished() const noexcept { return part_ == parts_; }
  uint64_t done() const noexcept { return done_; }
  uint64_t total() const noexcept { return total_; }
  // Logits of all options in prompt order, question after question. Valid once finished.
  const std::vector<float>& logits() const noexcept { return logits_; }

 private:
  Head(const model::Config& config, const model::Weights& weights, device::Device& device, model::Pass& pass,
       const schema::Schema& schema, const schema::Prompt& prompt);
  base::Status allocate();
  void list_spans();

  void read_chunk(int64_t first, int64_t count);  // final norm, span sums, memory rows
  void begin_options();                           // R from context, lexical and question vectors
  base::Status begin_attention(const model::HeadAttentionWeights& weights, device::Buffer& rows,
                               const model::NormWeights& norm);
  void attend_memory(const model::HeadAttentionWeights& weights, const model::NormWeights* memory_norm, int64_t first,
                     int64_t count);
  void finish_attention(const model::HeadAttentionWeights& weights, device::Buffer& rows);
  void feed_forward(const model::HeadFeedForward& weights, const model::NormWeights& norm, device::Buffer& rows);
  base::Status begin_fields();  // F from the pooled options
  base::Status self_attention(const model::DecoderLayer& layer);
  base::Status score();  // logits
  base::Result<std::vector<float>> download(device::Buffer& buffer);
  // Rows of the attention in progress: fields in the decoder layers, options before.
  int64_t attend_rows() const noexcept { return part_ > head_.evidence.size() ? questions_ : options_; }

  const model::Config& config_;
  const model::Weights& weights_;
  const model::HeadWeights& head_;
  device::Device& device_;
  model::Pass& pass_;
  const schema::Schema& schema_;
  const schema::Prompt& prompt_;
  int64_t tokens_ = 0, chunk_ = 0, questions_ = 0, options_ = 0;
  std::vector<int64_t> first_option_;  // of each question, and the end

  std::vector<device::SpanPart> question_spans_, option_spans_;  // over the whole prompt; `out` is the row of the means
  std::vector<device::SpanPart> parts_of_chunk_, option_parts_of_chunk_, last_part_;
  std::vector<device::SpanPart> question_of_option_;
  std::vector<float> uploaded_;

  std::unique_ptr<device::Arena> scratch_, own_memory_;
  std::unique_ptr<device::Buffer> memory_;                            // [tokens, width]
  layers::BufferPtr normed_, read_, memory_normed_, keys_, values_;   // one chunk
  layers::BufferPtr question_means_, option_means_, last_, lexical_;  // [questions|options|1|options, hidden]
  layers::BufferPtr option_rows_, field_rows_, question_rows_;        // R, F, projected questions
  layers::BufferPtr queries_, attended_, inner_;                      // up to max(options, questions) rows
  std::unique_ptr<device::AttendState> attend_;

  // Parts: 0 reading; then the evidence layers, then the decoder layers, each streaming the memory once; then the
  // scores.
  size_t part_ = 0, parts_ = 0;
  int64_t position_ = 0;
  uint64_t done_ = 0, total_ = 0;
  std::vector<float> logits_;
};

}  // namespace clef::decide
