// Names of models in Ollama's store on this machine.
#pragma once
#include <string>

namespace cli {

// The manifest of NAME[:TAG], NAMESPACE/NAME[:TAG] or HOST/NAMESPACE/NAME[:TAG] in the store, which lies where
// OLLAMA_MODELS says or in the home directory. `model` itself when it is a path that exists or no such name.
// `missing` becomes a message when there is a store, but neither it nor the file system has such a model.
std::string resolve_model(const std::string& model, std::string& missing);

}  // namespace cli
