#include "model/model.hpp"

#include "model/digest.hpp"
#include "model/message.hpp"

namespace clef::model {

using base::Code;
using base::Status;

base::Result<std::shared_ptr<const Model>> Model::load(const Files& files, const LoadOptions& options,
                                                       base::Memory& memory) {
  if (options.compute == Compute::bf16 || options.compute == Compute::int8)
    return Status(Code::unsupported, std::string("compute kind '") +
                                         (options.compute == Compute::bf16 ? "bf16" : "int8") +
                                         "' is not there yet; use 'auto' or 'exact'");
  base::Watch watch(options.hooks);
  CLEF_RETURN_IF_ERROR(watch.check());
  const auto model = std::make_shared<Model>();
  CLEF_ASSIGN_OR_RETURN(model->package_, open_package(files));
  CLEF_RETURN_IF_ERROR(watch.check());
  CLEF_ASSIGN_OR_RETURN(text::Tokenizer tokenizer, load_tokenizer(model->package_, options.pre_tokenizer));
  const Config& config = model->package_.config;
  if (tokenizer.size() > config.vocabulary)
    return file_error(
        Code::bad_file,
        model->package_.gguf ? model->package_.files.front().name : model->package_.tokenizer_json->name(),
        "the tokenizer has " + std::to_string(tokenizer.size()) + " tokens, but the model only " +
            std::to_string(config.vocabulary) + "; they belong to different models");
  model->tokenizer_ = std::make_unique<text::Tokenizer>(std::move(tokenizer));
  CLEF_RETURN_IF_ERROR(watch.check());
  CLEF_ASSIGN_OR_RETURN(model->digest_, digest_of(model->package_));
  model->name_ = model->package_.name;
  model->weight_options_ = {options.copy_weights, options.check_weights};
  model->memory_ = &memory;
  CLEF_ASSIGN_OR_RETURN(model->weights_, resolve_weights(model->package_, model->weight_options_, memory, watch));
  return std::shared_ptr<const Model>(model);
}

base::Result<const Vision*> Model::vision(base::Watch& watch) const {
  return vision_.get([&] { return load_vision(package_, weight_options_, *memory_, watch); });
}

std::string Model::describe() const {
  return model::describe(package_, tokenizer_.get(), false);
}

}  // namespace clef::model
