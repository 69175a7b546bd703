#include "convert/quantize.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "convert/encode.hpp"
#include "convert/gguf_writer.hpp"
#include "convert/imatrix.hpp"
#include "convert/metadata.hpp"
#include "convert/verify.hpp"
#include "io/file_writer.hpp"
#include "io/source.hpp"
#include "model/message.hpp"
#include "model/weights.hpp"

namespace clef::convert {

using base::Code;
using base::Status;
using model::file_error;

namespace {

// A hash as text; the header holds it so that files of two matrices are never mixed.
std::string hex(uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

class Conversion {
 public:
  Conversion(const model::Files& files, const std::string& out, const Options& options, base::Executor& executor,
             base::Memory& memory)
      : files_(files),
        out_(out),
        part_(out + ".part"),
        options_(options),
        memory_(memory),
        watch_(options.hooks),
        encoder_(executor, memory, watch_) {}

  base::Result<Report> run() {
    const auto start = std::chrono::steady_clock::now();
    CLEF_ASSIGN_OR_RETURN(const int32_t number, file_type(options_.types));
    CLEF_RETURN_IF_ERROR(check_target());
    CLEF_RETURN_IF_ERROR(watch_.check());
    CLEF_ASSIGN_OR_RETURN(package_, model::open_package(files_));
    CLEF_RETURN_IF_ERROR(check_source());
    CLEF_RETURN_IF_ERROR(plan(number));
    if (const Status written = write(); !written.ok()) return clean_up(written);
    if (const Status good = verify(part_, tensors_, importance_, encoder_, watch_); !good.ok()) return clean_up(good);
    CLEF_RETURN_IF_ERROR(check_target());
    CLEF_RETURN_IF_ERROR(io::replace_file(part_, out_));
    watch_.progress(base::Stage::quantize, total_, total_);
    fill_report();
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  Status check_target() const {
    const std::string name = io::file_name(out_);
    switch (io::path_kind(out_)) {
      case io::PathKind::missing:
        return {};
      case io::PathKind::file:
        if (options_.overwrite) return {};
        return file_error(Code::invalid_argument, name,
                          "exists already; choose another name, or allow it to be replaced (option --overwrite)");
      default:
        return file_error(Code::invalid_argument, name, "is no file that could be written");
    }
  }

  // The model must be right, and must not be what is overwritten.
  Status check_source() {
    for (const model::Files::Entry& entry : files_.entries) {
      if (entry.path.empty()) continue;
      bool same = io::same_file(entry.path, out_);
      for (const std::string& directory : {entry.path, io::parent_path(entry.path)})
        for (const model::FileEntry& file : package_.files)
          same = same || io::same_file(io::join_path(directory, file.name), out_);
      if (same)
        return file_error(Code::invalid_argument, io::file_name(out_),
                          "is a file of the model itself; choose another name");
    }
    const bool in_memory =
        std::all_of(package_.tensors.begin(), package_.tensors.end(),
                    [](const container::TensorView& tensor) { return tensor.source->data() != nullptr; });
    if (!in_memory) return {};  // the check would read all of it
    base::Watch silent(base::Hooks{});
    return model::resolve_weights(package_, {}, memory_, silent).status();
  }

  Status plan(int32_t number) {
    CLEF_ASSIGN_OR_RETURN(tensors_, list_tensors(package_, options_.architecture));
    uint64_t unused = 0;
    if (!options_.importance.empty()) {
      CLEF_ASSIGN_OR_RETURN(const io::SourcePtr source, io::open_path(options_.importance));
      CLEF_ASSIGN_OR_RETURN(importance_, read_importance(source));
      CLEF_RETURN_IF_ERROR(check_importance(importance_, tensors_, &unused));
    }
    CLEF_RETURN_IF_ERROR(assign_types(options_.types, package_.config, !importance_.entries.empty(), tensors_));
    GgufHeader header;
    add_model_keys(package_, options_.architecture, number, header);
    if (!importance_.entries.empty()) {
      header.add("quantize.imatrix.file", base::find_invalid_utf8(importance_.file) == std::string::npos
                                              ? std::string_view(importance_.file)
                                              : std::string_view("imatrix"));
      header.add("quantize.imatrix.hash", hex(importance_.hash));
      header.add_u32("quantize.imatrix.entries_count", importance_.entries.size());
    }
    CLEF_RETURN_IF_ERROR(add_tokenizer_keys(package_, options_.architecture, header));
    CLEF_ASSIGN_OR_RETURN(header_, header.finish(tensors_, &total_));
    take_notes(unused);
    return {};
  }

  void take_notes(uint64_t unused) {
    const auto note = [&](std::string text) { report_.notes.push_back(std::move(text)); };
    if (package_.has_vision)
      note("The part of the model that reads pictures was left out: it belongs into a projector file of its own.");
    if (options_.architecture == Architecture::qwen35)
      note("The file holds the backbone alone; to decide, it needs the head's own files beside it.");
    else if (package_.gguf == nullptr)
      note("The file has no prompt template for other programs; clef needs none.");
    if (importance_.entries.empty()) return;
    uint64_t without = 0;
    for (const Tensor& tensor : tensors_)
      if (tensor.matrix && importance_.find(tensor.name).empty()) ++without;
    if (without > 0) note("Matrices without an entry in the importance matrix: " + std::to_string(without) + ".");
    if (unused > 0)
      note("Entries of the importance matrix for no tensor of this file: " + std::to_string(unused) + ".");
  }

  // How much of an unfinished file can be kept: whole tensors, without the last of them.
  base::Result<size_t> resume(io::FileWriter& file) const {
    CLEF_ASSIGN_OR_RETURN(const uint64_t size, file.size());
    const uint64_t compared = std::min<uint64_t>(size, header_.size());
    std::string found(static_cast<size_t>(compared), '\0');
    CLEF_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(found))));
    if (size > total_ || std::memcmp(found.data(), header_.data(), found.size()) != 0) {
      if (options_.overwrite) return size_t{0};
      return file_error(Code::invalid_argument, file.name(),
                        "is left from another conversion; delete it, or allow it to be replaced (option --overwrite)");
    }
    if (size < header_.size()) return size_t{0};
    size_t whole = 0;
    while (whole < tensors_.size() && header_.size() + tensors_[whole].offset + tensors_[whole].bytes <= size) ++whole;
    return whole > 0 ? whole - 1 : 0;
  }

  Status write() {
    CLEF_ASSIGN_OR_RETURN(const std::unique_ptr<io::FileWriter> file, io::open_writer(part_, io::Existing::keep));
    CLEF_ASSIGN_OR_RETURN(const size_t first, resume(*file));
    const uint64_t begin = first > 0 ? header_.size() + tensors_[first].offset : 0;
    CLEF_RETURN_IF_ERROR(file->resize(begin));
    opened_ = true;
    if (first == 0) CLEF_RETURN_IF_ERROR(file->write(0, std::as_bytes(std::span(header_))));
    for (size_t i = first; i < tensors_.size(); ++i) {
      const Tensor& tensor = tensors_[i];
      const uint64_t start = header_.size() + tensor.offset;
      const std::span<const float> weights = tensor.matrix ? importance_.find(tensor.name) : std::span<const float>();
      const auto sink = [&](uint64_t offset, std::span<const std::byte> bytes) -> Status {
        CLEF_RETURN_IF_ERROR(file->write(start + offset, bytes));
        watch_.progress(base::Stage::quantize, std::min(start + offset + bytes.size(), total_ - 1), total_);
        return {};
      };
      CLEF_RETURN_IF_ERROR(encoder_.encode(tensor, weights, sink));
      // Up to the next tensor, or the end.
      const uint64_t end = i + 1 < tensors_.size() ? header_.size() + tensors_[i + 1].offset : total_;
      const std::byte zeros[kGgufAlignment] = {};
      CLEF_RETURN_IF_ERROR(file->write(start + tensor.bytes, {zeros, static_cast<size_t>(end - start - tensor.bytes)}));
    }
    return file->flush();
  }

  // What a later run can go on with is kept.
  Status clean_up(const Status& error) const {
    const Code code = error.code();
    const bool keep = code == Code::cancelled || code == Code::io || code == Code::out_of_memory ||
                      code == Code::memory_limit || !opened_;
    if (!keep) static_cast<void>(io::remove_file(part_));
    return Status(error.detail());
  }

  void fill_report() {
    report_.file = io::file_name(out_);
    report_.file_bytes = total_;
    for (const Tensor& tensor : tensors_) {
      const auto values = static_cast<uint64_t>(tensor.elements());
      ++report_.tensors, report_.values += values, report_.tensor_bytes += tensor.bytes;
      auto place = std::find_if(report_.types.begin(), report_.types.end(),
                                [&](const TypeTotal& total) { return total.type == tensor.format->name; });
      if (place == report_.types.end()) place = report_.types.insert(place, TypeTotal{tensor.format->name, 0, 0, 0});
      ++place->tensors, place->bytes += tensor.bytes, place->values += values;
    }
    std::sort(report_.types.begin(), report_.types.end(), [](const TypeTotal& a, const TypeTotal& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.type < b.type;
    });
  }

  const model::Files& files_;
  const std::string out_, part_;
  const Options& options_;
  base::Memory& memory_;
  base::Watch watch_;
  Encoder encoder_;
  model::Package package_;
  std::vector<Tensor> tensors_;
  Importance importance_;
  std::string header_;
  uint64_t total_ = 0;
  bool opened_ = false;
  Report report_;
};

}  // namespace

base::Result<Report> quantize(const model::Files& files, const std::string& out, const Options& options,
                              base::Executor& executor, base::Memory& memory) {
  return Conversion(files, out, options, executor, memory).run();
}

}  // namespace clef::convert
