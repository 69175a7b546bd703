#include "decide/head.hpp"

#include <algorithm>
#include <cmath>

namespace clef::decide {

using base::Result;
using base::Status;
using device::Buffer;
using device::Epilogue;
using device::Product;
using device::Role;
using device::Rows;
using device::SpanPart;

namespace {

Rows all(const layers::BufferPtr& buffer) {
  return {buffer.get(), 0, buffer->rows()};
}
Rows all(Buffer& buffer) {
  return {&buffer, 0, buffer.rows()};
}

// The parts of `spans` that lie in tokens [first, first + count), with rows counted from `first`.
void clip(const std::vector<SpanPart>& spans, int64_t first, int64_t count, std::vector<SpanPart>& parts) {
  parts.clear();
  for (const SpanPart& span : spans) {
    const int64_t begin = std::max(span.first, first), end = std::min(span.first + span.count, first + count);
    if (begin >= end) continue;
    const bool last = end == span.first + span.count;
    parts.push_back({begin - first, end - begin, span.out, last ? static_cast<float>(span.count) : 0.0f});
  }
}

}  // namespace

Head::Head(const model::Config& config, const model::Weights& weights, device::Device& device, model::Pass& pass,
           const schema::Schema& schema, const schema::Prompt& prompt)
    : config_(config),
      weights_(weights),
      head_(weights.head),
      device_(device),
      pass_(pass),
      schema_(schema),
      prompt_(prompt),
      tokens_(static_cast<int64_t>(prompt.ids.size())),
      chunk_(pass.chunk()),
      questions_(static_cast<int64_t>(schema.questions.size())) {}

Result<std::unique_ptr<Head>> Head::create(const model::Config& config, const model::Weights& weights,
                                           device::Device& device, model::Pass& pass, const schema::Schema& schema,
                                           const schema::Prompt& prompt) {
  std::unique_ptr<Head> head(new Head(config, weights, device, pass, schema, prompt));
  head->list_spans();
  pass.release_scratch();
  CLEF_RETURN_IF_ERROR(head->allocate());
  head->parts_ = 2 + weights.head.evidence.size() + weights.head.decoder.size();
  const uint64_t chunks = static_cast<uint64_t>((head->tokens_ + head->chunk_ - 1) / head->chunk_);
  head->total_ = chunks * (head->parts_ - 1) + 1;
  return head;
}

void Head::list_spans() {
  for (size_t q = 0; q < schema_.questions.size(); ++q) {
    const schema::QuestionSpans& spans = prompt_.questions[q];
    const auto part = [](schema::Span span, int64_t out) {
      return SpanPart{span.begin, span.end - span.begin, out, 0};
    };
    question_spans_.push_back(part(spans.instruction, static_cast<int64_t>(q)));
    first_option_.push_back(options_);
    for (const schema::Span& span : spans.options) {
      option_spans_.push_back(part(span, options_));
      question_of_option_.push_back({static_cast<int64_t>(q), 1, options_, 0});
      ++options_;
    }
  }
  first_option_.push_back(options_);
}

Status Head::allocate() {
  const int64_t hidden = config_.hidden, width = config_.head.width;
  const int64_t rows = std::min(chunk_, tokens_), widest = std::max(options_, questions_);
  const auto place = [&](device::Arena* arena) {
    layers::Placement placement(device_, arena);
    question_means_ = placement.place(questions_, hidden, Role::matmul_input);
    option_means_ = placement.place(options_, hidden, Role::matmul_input);
    lexical_ = placement.place(options_, hidden, Role::matmul_input);
    last_ = placement.place(1, hidden, Role::matmul_input);
    option_rows_ = placement.place(options_, width, Role::residual);
    field_rows_ = placement.place(questions_, width, Role::residual);
    question_rows_ = placement.place(questions_, width, Role::activation);
    queries_ = placement.place(widest, width, Role::matmul_input);
    attended_ = placement.place(widest, width, Role::matmul_input);
    // Reading needs the norms of a chunk, attention its keys and values, the feed-forward its inner rows: one at a
    // time.
    const uint64_t mark = placement.mark();
    normed_ = placement.place(rows, hidden, Role::activation);
    read_ = placement.place(rows, hidden, Role::matmul_input);
    placement.back_to(mark);
    memory_normed_ = placement.place(rows, width, Role::matmul_input);
    keys_ = placement.place(std::max(rows, questions_), width, Role::activation);
    values_ = placement.place(std::max(rows, questions_), width, Role::activation);
    placement.back_to(mark);
    inner_ = placement.place(widest, config_.head.feedforward, Role::matmul_input);
    return placement.size();
  };
  CLEF_ASSIGN_OR_RETURN(scratch_, device_.allocate_arena(place(nullptr)));
  place(scratch_.get());

  // Memory rows are no wider than hidden rows in the released models, so that they can be written over them.
  if (width <= hidden) {
    memory_ = device_.place(pass_.hidden_memory(), 0, tokens_, width, Role::matmul_input);
  } else {
    CLEF_ASSIGN_OR_RETURN(own_memory_,
                          device_.allocate_arena(device_.buffer_bytes(tokens_, width, Role::matmul_input)));
    memory_ = device_.place(*own_memory_, 0, tokens_, width, Role::matmul_input);
  }
  uploaded_.assign(static_cast<size_t>(std::max(questions_, options_) * hidden), 0.0f);
  const std::span<const float> zeros(uploaded_);
  device_.upload(zeros.first(static_cast<size_t>(questions_ * hidden)), all(question_means_));
  device_.upload(zeros.first(static_cast<size_t>(options_ * hidden)), all(option_means_));
  device_.upload(zeros.first(static_cast<size_t>(hidden)), all(last_));
  return device_.sync();
}

void Head::read_chunk(int64_t first, int64_t count) {
  const Rows hidden = pass_.hidden(0);
  const Rows normed{normed_.get(), 0, count}, read{read_.get(), 0, count};
  device_.rms_norm({hidden.buffer, hidden.first + first, count}, weights_.final_norm, config_.norm_eps, normed,
                   {-1, "final norm"});
  device_.layer_norm(normed, head_.hidden_norm.scale, head_.hidden_norm.bias, config_.head.norm_eps, read,
                     {-1, "head hidden norm"});
  clip(question_spans_, first, count, parts_of_chunk_);
  clip(option_spans_, first, count, option_parts_of_chunk_);
  device_.sum_spans(read, parts_of_chunk_, all(question_means_));
  device_.sum_spans(read, option_parts_of_chunk_, all(option_means_));
  if (first + count == tokens_) {
    last_part_.assign(1, SpanPart{count - 1, 1, 0, 0});
    device_.sum_spans(read, last_part_, all(last_));
  }
  const Product memory[] = {{&head_.memory, {memory_.get(), first, count}}};
  device_.matmul(read, memory);
}

void Head::begin_options() {
  device_.embed_mean(weights_.lm_head, prompt_.ids, option_spans_, all(lexical_));
  const Product context[] = {{&head_.option_context, all(option_rows_)}};
  device_.matmul(all(option_means_), context);
  const Product lexical[] = {{&head_.option_lexical, all(option_rows_), Epilogue::add_residual}};
  device_.matmul(all(lexical_), lexical);
  const Product question[] = {{&head_.option_question, all(question_rows_)}};
  device_.matmul(all(question_means_), question);
  device_.sum_spans(all(question_rows_), question_of_option_, all(option_rows_));
}

// queries = projection of the normalised rows; an empty online softmax for them.
Status Head::begin_attention(const model::HeadAttentionWeights& weights, Buffer& rows, const model::NormWeights& norm) {
  const int64_t count = rows.rows();
  const Rows normed{attended_.get(), 0, count}, queries{queries_.get(), 0, count};
  device_.layer_norm(all(rows), norm.scale, norm.bias, config_.head.norm_eps, normed, {-1, "head query norm"});
  const Product product[] = {{&weights.q, queries, Epilogue::store, &weights.q_bias}};
  device_.matmul(normed, product);
  CLEF_RETURN_IF_ERROR(device_.sync());  // work that still uses the last online softmax
  CLEF_ASSIGN_OR_RETURN(attend_, device_.allocate_attend(count, config_.head.heads, config_.head.width));
  return {};
}

void Head::attend_memory(const model::HeadAttentionWeights& weights, const model::NormWeights* memory_norm,
                         int64_t first, int64_t count) {
  Rows memory{memory_.get(), first, count};
  if (memory_norm) {
    const Rows normed{memory_normed_.get(), 0, count};
    device_.layer_norm(memory, memory_norm->scale, memory_norm->bias, config_.head.norm_eps, normed,
                       {-1, "head memory norm"});
    memory = normed;
  }
  const Rows keys{keys_.get(), 0, count}, values{values_.get(), 0, count};
  const Product products[] = {{&weights.k, keys, Epilogue::store, &weights.k_bias},
                              {&weights.v, values, Epilogue::store, &weights.v_bias}};
  device_.matmul(memory, products);
  device_.attend({queries_.get(), 0, attend_rows()}, keys, values, config_.head.heads, *attend_);
}

void Head::finish_attention(const model::HeadAttentionWeights& weights, Buffer& rows) {
  const Rows attended{attended_.get(), 0, rows.rows()};
  device_.attend_finish(*attend_, attended);
  const Product product[] = {{&weights.out, all(rows), Epilogue::add_residual, &weights.out_bias}};
  device_.matmul(attended, product);
}

void Head::feed_forward(const model::HeadFeedForward& weights, const model::NormWeights& norm, Buffer& rows) {
  const Rows normed{queries_.get(), 0, rows.rows()}, inner{inner_.get(), 0, rows.rows()};
  device_.layer_norm(all(rows), norm.scale, norm.bias, config_.head.norm_eps, normed, {-1, "head feed-forward norm"});
  const Product up[] = {{&weights.up, inner, Epilogue::gelu, &weights.up_bias}};
  device_.matmul(normed, up);
  const Product down[] = {{&weights.down, all(rows), Epilogue::add_residual, &weights.down_bias}};
  device_.matmul(inner, down);
}

Status Head::self_attention(const model::DecoderLayer& layer) {
  const model::HeadAttentionWeights& weights = layer.self_attention;
  CLEF_RETURN_IF_ERROR(begin_attention(weights, *field_rows_, layer.self_norm));
  // begin_attention left the normalised fields in attended_.
  const Rows normed{attended_.get(), 0, questions_}, keys{keys_.get(), 0, questions_},
      values{values_.get(), 0, questions_};
  const Product products[] = {{&weights.k, keys, Epilogue::store, &weights.k_bias},
                              {&weights.v, values, Epilogue::store, &weights.v_bias}};
  device_.matmul(normed, products);
  device_.attend({queries_.get(), 0, questions_}, keys, values, config_.head.heads, *attend_);
  finish_attention(weights, *field_rows_);
  return {};
}

Result<std::vector<float>> Head::download(Buffer& buffer) {
  std::vector<float> values(static_cast<size_t>(buffer.rows() * buffer.columns()));
  CLEF_RETURN_IF_ERROR(device_.download(all(buffer), values));
  return values;
}

// b = projected question means; s = options pooled by softmax(R b / sqrt(width)); F = b + LN(s) + projected last +
// type.
Status Head::begin_fields() {
  const int64_t width = config_.head.width;
  const Product question[] = {{&head_.question, all(question_rows_)}};
  device_.matmul(all(question_means_), question);
  const Rows projected_last{field_rows_.get(), 0, 1};
  const Product last[] = {{&head_.global, projected_last}};
  device_.matmul(all(last_), last);
  CLEF_ASSIGN_OR_RETURN(const std::vector<float> rows, download(*option_rows_));
  CLEF_ASSIGN_OR_RETURN(std::vector<float> fields, download(*question_rows_));
  std::vector<float> global(static_cast<size_t>(width));
  CLEF_RETURN_IF_ERROR(device_.download(projected_last, global));

  uploaded_.assign(static_cast<size_t>(questions_ * width), 0.0f);
  std::vector<float> weights;
  for (int64_t q = 0; q < questions_; ++q) {
    const int64_t begin = first_option_[static_cast<size_t>(q)], end = first_option_[static_cast<size_t>(q) + 1];
    const float* b = fields.data() + q * width;
    weights.clear();
    float top = -__builtin_inff();
    for (int64_t i = begin; i < end; ++i) {
      float dot = 0;
      for (int64_t j = 0; j < width; ++j) dot += rows[static_cast<size_t>(i * width + j)] * b[j];
      weights.push_back(dot / std::sqrt(static_cast<float>(width)));
      top = std::max(top, weights.back());
    }
    float sum = 0;
    for (float& weight : weights) sum += weight = std::exp(weight - top);
    float* pooled = uploaded_.data() + q * width;
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < width; ++j)
        pooled[j] += weights[static_cast<size_t>(i - begin)] / sum * rows[static_cast<size_t>(i * width + j)];
  }
  // LN(s) goes through the device like every other norm.
  const Rows pooled{queries_.get(), 0, questions_}, normed{attended_.get(), 0, questions_};
  device_.upload(uploaded_, pooled);
  device_.layer_norm(pooled, head_.summary_norm.scale, head_.summary_norm.bias, config_.head.norm_eps, normed,
                     {-1, "head option summary norm"});
  std::vector<float> summary(uploaded_.size());
  CLEF_RETURN_IF_ERROR(device_.download(normed, summary));
  std::vector<float> type(static_cast<size_t>(width));
  for (int64_t q = 0; q < questions_; ++q) {
    const auto number = static_cast<int64_t>(schema_.questions[static_cast<size_t>(q)].type);
    quant::decode_row(head_.types, number, 0, width, type.data());
    for (int64_t j = 0; j < width; ++j) {
      const size_t at = static_cast<size_t>(q * width + j);
      fields[at] += summary[at] + global[static_cast<size_t>(j)] + type[static_cast<size_t>(j)];
    }
  }
  uploaded_ = std::move(fields);
  device_.upload(uploaded_, all(field_rows_));
  return device_.sync();
}

Status Head::step() {
  if (finished()) return {};
  const size_t evidence = head_.evidence.size();
  const bool reading = part_ == 0, scoring = part_ + 1 == parts_;
  if (scoring) {
    CLEF_RETURN_IF_ERROR(score());
    ++part_, ++done_;
    return {};
  }
  const model::EvidenceLayer* routing = !reading && part_ <= evidence ? &head_.evidence[part_ - 1] : nullptr;
  const model::DecoderLayer* decoding = !reading && !routing ? &head_.decoder[part_ - 1 - evidence] : nullptr;
  const model::HeadAttentionWeights* attention =
      routing ? &routing->attention : (decoding ? &decoding->cross_attention : nullptr);
  Buffer& rows = decoding ? *field_rows_ : *option_rows_;
  if (position_ == 0 && routing) CLEF_RETURN_IF_ERROR(begin_attention(*attention, rows, routing->query_norm));
  if (position_ == 0 && decoding) {
    CLEF_RETURN_IF_ERROR(self_attention(*decoding));
    CLEF_RETURN_IF_ERROR(begin_attention(*attention, rows, decoding->cross_norm));
  }
  const int64_t count = std::min(chunk_, tokens_ - position_);
  if (reading) {
    read_chunk(position_, count);
  } else {
    attend_memory(*attention, routing ? &routing->memory_norm : nullptr, position_, count);
  }
  position_ += count;
  ++done_;
  if (position_ == tokens_) {
    position_ = 0;
    ++part_;
    if (reading) begin_options();
    if (attention) {
      finish_attention(*attention, rows);
      feed_forward(routing ? routing->feedforward : decoding->feedforward,
                   routing ? routing->feedforward_norm : decoding->feedforward_norm, rows);
    }
    CLEF_RETURN_IF_ERROR(device_.sync());
    if (part_ == 1 + evidence) CLEF_RETURN_IF_ERROR(begin_fields());
  }
  return device_.sync();
}

}  // namespace clef::decide
