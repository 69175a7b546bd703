// The forms in which a model is stored; package.cpp chooses one. Inside src/model only.
#pragma once
#include <vector>

#include "model/file_set.hpp"
#include "model/package.hpp"

namespace clef::model {

base::Result<Package> open_release(const FileSet& set);
// `items`: the GGUF files that were given, at least one.
base::Result<Package> open_gguf(const FileSet& set, std::vector<FileSet::Item> items);

// Sorts the tensors by name and refuses names that occur twice.
base::Status finish_tensors(Package& package);

}  // namespace clef::model
