#include "decide/session.hpp"

#include <algorithm>

#include "decide/head.hpp"
#include "decide/media_plan.hpp"
#include "device/cpu/cpu.hpp"
#include "model/executor.hpp"
#include "model/vision_pass.hpp"

namespace clef::decide {

using base::Result;
using base::Status;

struct Run::Impl {
  Impl(const model::Model& loaded, device::Device& target, const schema::Schema& questions, const Options& options)
      : model(loaded), device(target), schema(questions), watch(options.hooks) {}
  ~Impl() { device.set_watch(nullptr); }

  const model::Model& model;
  device::Device& device;
  schema::Schema schema;  // a copy: the caller's may go while the run goes on
  base::Watch watch;
  schema::Prompt prompt;
  std::unique_ptr<MediaPlan> media;
  std::vector<model::TokenRange> given;
  std::vector<int32_t> rope_positions;
  std::unique_ptr<model::Pass> pass;
  std::unique_ptr<model::VisionPass> vision;  // writes rows of `pass`
  std::unique_ptr<Head> head;
  Decision decision;
  uint64_t done = 0, total = 0;  // in steps; one of the head counts like one of the backbone

  base::Stage stage() const;
  Status step(bool& finished);
  void finish();
};

Run::Run(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Run::~Run() = default;
uint64_t Run::done() const noexcept {
  return impl_->done;
}
uint64_t Run::total() const noexcept {
  return impl_->total;
}
Decision Run::take() && {
  return std::move(impl_->decision);
}

Status Run::step(bool& finished) {
  finished = false;
  CLEF_RETURN_IF_ERROR(impl_->watch.check());
  const base::Stage stage = impl_->stage();
  const uint64_t begin = base::nanoseconds_now();
  Status status = impl_->step(finished);
  // Once cancelled, tasks stop half-way and what they left may look like any other error.
  CLEF_RETURN_IF_ERROR(impl_->watch.check());
  CLEF_RETURN_IF_ERROR(std::move(status));
  impl_->decision.nanoseconds[static_cast<size_t>(stage)] += base::nanoseconds_now() - begin;
  ++impl_->done;
  impl_->watch.progress(stage, impl_->done, impl_->total);
  return {};
}

base::Stage Run::Impl::stage() const {
  if (vision) return base::Stage::vision;
  return pass->finished() ? base::Stage::head : base::Stage::prefill;
}

Status Run::Impl::step(bool& finished) {
  if (vision) {
    CLEF_RETURN_IF_ERROR(vision->step());
    if (!vision->finished()) return {};
    decision.nanoseconds[static_cast<size_t>(base::Stage::decode)] = media->times().decode;
    decision.nanoseconds[static_cast<size_t>(base::Stage::scale)] = media->times().scale;
    vision.reset(), media.reset();
    return {};
  }
  if (!pass->finished()) return pass->step();
  if (!head) {
    CLEF_ASSIGN_OR_RETURN(head, Head::create(model.config(), model.weights(), device, *pass, schema, prompt));
    total = done + head->total();
  }
  CLEF_RETURN_IF_ERROR(head->step());
  finished = head->finished();
  if (finished) finish();
  return {};
}

void Run::Impl::finish() {
  const auto spent = [this](base::Stage stage) -> uint64_t& {
    return decision.nanoseconds[static_cast<size_t>(stage)];
  };
  spent(base::Stage::vision) -= spent(base::Stage::decode) + spent(base::Stage::scale);  // done inside its steps
  const float* logits = head->logits().data();
  for (size_t q = 0; q < schema.questions.size(); ++q) {
    decision.answers.push_back(make_answer(schema.questions[q], prompt.questions[q], logits));
    logits += schema.questions[q].options.size();
  }
  head.reset();
  pass.reset();
  decision.model = model.name();
  decision.tokens_dropped = prompt.tokens_dropped;
  decision.ids = std::move(prompt.ids);
}

Session::Session(std::shared_ptr<const model::Model> model, base::Executor& executor, base::IsaLevel level,
                 base::Memory& memory)
    : model_(std::move(model)), memory_(memory), device_(device::make_cpu_device(level, executor, memory_)) {}

Session::~Session() = default;

const char* Session::kernels_in_use() const noexcept {
  return device_->description();
}

namespace {

schema::PromptOptions prompt_options(const Options& options, const model::Config& config) {
  schema::PromptOptions out;
  out.max_tokens = options.max_tokens > 0 ? std::min(options.max_tokens, config.max_positions) : config.max_positions;
  out.truncation = options.truncation;
  out.user_text = options.user_text;
  return out;
}

}  // namespace

namespace {

// Sizes alone: for prompts that are not computed. Null without media.
Result<std::unique_ptr<MediaPlan>> plan_media(const model::Model& model, const Options& options, Media media,
                                              base::Memory& memory, base::Watch& watch) {
  if (media.empty()) return std::unique_ptr<MediaPlan>();
  CLEF_ASSIGN_OR_RETURN(const model::VisionSettings settings, model::vision_settings(model.package()));
  return MediaPlan::create(std::move(media), options.media, settings.processor, memory, watch);
}

}  // namespace

Result<schema::Prompt> make_prompt(const model::Model& model, const schema::Schema& schema, std::string_view state,
                                   const Options& options, Media media, base::Memory& memory) {
  base::Watch watch(options.hooks);
  CLEF_ASSIGN_OR_RETURN(const auto plan, plan_media(model, options, std::move(media), memory, watch));
  schema::PromptOptions how = prompt_options(options, model.config());
  how.keep_pieces = true;
  if (plan) how.media = plan->items();
  return schema::encode_prompt(model.tokenizer(), state, schema, how);
}

Result<schema::TokenCounts> count_tokens(const model::Model& model, const schema::Schema& schema,
                                         std::string_view state, const Options& options, Media media,
                                         base::Memory& memory) {
  base::Watch watch(options.hooks);
  CLEF_ASSIGN_OR_RETURN(const auto plan, plan_media(model, options, std::move(media), memory, watch));
  return schema::count_tokens(model.tokenizer(), state, schema, options.user_text,
                              plan ? plan->items() : std::span<const schema::MediaItem>());
}

Result<std::unique_ptr<Run>> Session::start(const schema::Schema& schema, std::string_view state,
                                            const Options& options, Media media) {
  auto impl = std::make_unique<Run::Impl>(*model_, *device_, schema, options);
  memory_.set_limit(options.memory_limit);
  device_->set_watch(&impl->watch);
  schema::PromptOptions how = prompt_options(options, model_->config());
  const model::Vision* vision = nullptr;
  if (!media.empty()) {
    CLEF_ASSIGN_OR_RETURN(vision, model_->vision(impl->watch));
    CLEF_ASSIGN_OR_RETURN(impl->media,
                          MediaPlan::create(std::move(media), options.media, vision->processor, memory_, impl->watch));
    how.media = impl->media->items();
  }
  CLEF_ASSIGN_OR_RETURN(impl->prompt, schema::encode_prompt(model_->tokenizer(), state, schema, how));
  CLEF_RETURN_IF_ERROR(impl->watch.check());

  model::Sequence sequence;
  sequence.ids = impl->prompt.ids;
  if (impl->media) {
    impl->given = impl->media->ranges(impl->prompt);
    impl->rope_positions = impl->media->rope_positions(impl->prompt);
    sequence.given = impl->given;
    sequence.rope_positions = impl->rope_positions;
  }
  CLEF_ASSIGN_OR_RETURN(impl->pass, model::Pass::create(model_->config(), model_->weights(),
                                                        model_->package().conventions.value_heads_tiled, *device_,
                                                        {sequence}, options.chunk));
  // Until the head is there: it reads once, then streams once per layer of its own, then scores.
  const uint64_t chunks = impl->pass->total() / model_->config().layers.size();
  const model::HeadWeights& head = model_->weights().head;
  impl->total = impl->pass->total() + chunks * (1 + head.evidence.size() + head.decoder.size()) + 1;
  if (impl->media) {
    CLEF_ASSIGN_OR_RETURN(impl->vision, model::VisionPass::create(
                                            *vision, *device_, memory_,
                                            impl->media->frames(impl->prompt, impl->pass->hidden(0)), options.chunk));
    impl->total += impl->vision->total();
  }
  return std::unique_ptr<Run>(new Run(std::move(impl)));
}

Result<Decision> Session::decide(const schema::Schema& schema, std::string_view state, const Options& options,
                                 Media media) {
  CLEF_ASSIGN_OR_RETURN(std::unique_ptr<Run> run, start(schema, state, options, std::move(media)));
  for (bool finished = false; !finished;) CLEF_RETURN_IF_ERROR(run->step(finished));
  return std::move(*run).take();
}

Result<uint64_t> estimate_scratch(const model::Config& config, uint64_t tokens, int64_t chunk, uint32_t threads) {
  if (config.max_positions > 0 && tokens > static_cast<uint64_t>(config.max_positions))
    return Status(base::Code::out_of_range, std::to_string(tokens) + " tokens are more than the " +
                                                std::to_string(config.max_positions) + " that this model takes");
  const auto executor = base::make_serial_executor();
  base::Memory memory{base::Allocator{}};
  const auto device = device::make_cpu_device(base::IsaLevel::baseline, *executor, memory);
  const auto count = static_cast<int64_t>(tokens);
  const int64_t rows = chunk > 0 ? chunk : model::default_chunk(config, *device);
  const int64_t used = std::max<int64_t>(1, std::min(rows, count));
  uint64_t bytes = device->buffer_bytes(count, config.hidden, device::Role::residual);
  if (config.head.width > config.hidden)
    bytes += device->buffer_bytes(count, config.head.width, device::Role::matmul_input);
  bytes += device->kv_bytes(model::attention_shape(config), count);
  bytes += model::chunk_bytes(config, *device, used);
  // Beside the rows: what each thread unpacks weights into, the states of the delta rule, the head's rows of 64
  // questions. Upper limits, small beside the rows of a real model.
  const auto attention = static_cast<uint64_t>(config.heads) * static_cast<uint64_t>(config.head_dim);
  const auto delta = static_cast<uint64_t>(config.value_heads) * static_cast<uint64_t>(config.value_dim);
  const auto hidden = static_cast<uint64_t>(config.hidden), width = static_cast<uint64_t>(config.head.width);
  const auto inner = static_cast<uint64_t>(config.head.feedforward);
  const uint64_t deepest =
      std::max({hidden, static_cast<uint64_t>(config.intermediate), attention, delta, width, inner});
  bytes += threads * (2 * 64 * deepest + 64 * 512) * sizeof(float);
  bytes += delta * static_cast<uint64_t>(config.key_dim) * sizeof(float);
  return bytes + 64 * (4 * hidden + 6 * width + inner) * sizeof(float);
}

}  // namespace clef::decide
