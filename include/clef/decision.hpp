// Decision: the answers, with typed access.
//
//     if (decision["refund"].probability() > 0.9) refund();
//     route_to(decision["team"].choice());
//     if (decision["urgency"].score() >= 1.5) wake_somebody();
//     for (auto option : decision["team"].probabilities()) print(option.id, option.probability);
//
// Views point into the decision and live as long as it does, wherever it is moved.
#pragma once
#include <clef.h>

#include <chrono>
#include <clef/error.hpp>
#include <clef/options.hpp>
#include <clef/schema.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace clef {
inline namespace v0 {

// A borrowed array.
template <class T>
class View {
 public:
  View() noexcept = default;
  View(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  // `index` must be below size().
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

// A range of tokens of the prompt, end not included.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// One allowed answer and its probability (0 to 1, full precision).
struct OptionProbability {
  std::string_view id;
  float probability = 0;
};

// The options of a question in request order: noul "true", "false"; score "0", "1", ... A view.
class Probabilities {
 public:
  class Iterator {
   public:
    Iterator(const clef_decision* decision, std::size_t question, std::size_t option) noexcept
        : decision_(decision), question_(question), option_(option) {}
    OptionProbability operator*() const noexcept { return Probabilities(decision_, question_)[option_]; }
    Iterator& operator++() noexcept {
      ++option_;
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept { return option_ == other.option_; }
    bool operator!=(const Iterator& other) const noexcept { return option_ != other.option_; }

   private:
    const clef_decision* decision_;
    std::size_t question_, option_;
  };

  Probabilities(const clef_decision* decision, std::size_t question) noexcept
      : decision_(decision), question_(question) {}
  std::size_t size() const noexcept { return clef_decision_option_count(decision_, question_); }
  // `index` must be below size().
  OptionProbability operator[](std::size_t index) const noexcept {
    std::size_t size = 0;
    const char* id = clef_decision_option_id(decision_, question_, index, &size);
    return {detail::view(id, size), clef_decision_probabilities(decision_, question_)[index]};
  }
  Iterator begin() const noexcept { return {decision_, question_, 0}; }
  Iterator end() const noexcept { return {decision_, question_, size()}; }
  // The bare numbers.
  View<float> values() const noexcept { return {clef_decision_probabilities(decision_, question_), size()}; }

 private:
  const clef_decision* decision_;
  std::size_t question_;
};

// The answer to one question, a view into its decision. An answer that does not exist (unknown id) is false and gives
// NaN, "" and empty views, and so does an accessor of another type of question: comparisons with it are false.
// Thread-safety: any number of threads at once.
class Answer {
 public:
  Answer(const clef_decision* decision, std::size_t question) noexcept : decision_(decision), question_(question) {}

  // Whether the question exists.
  explicit operator bool() const noexcept { return question_ < clef_decision_count(decision_); }
  std::string_view id() const noexcept {
    std::size_t size = 0;
    const char* text = clef_decision_id(decision_, question_, &size);
    return detail::view(text, size);
  }
  QuestionType type() const noexcept { return static_cast<QuestionType>(clef_decision_type(decision_, question_)); }

  // noul: probability that the answer is yes, 0 to 1. NaN for other types.
  double probability() const noexcept { return value_of(QuestionType::noul); }
  // score: expected level, 0 to levels - 1, usually not an integer. NaN for other types.
  double score() const noexcept { return value_of(QuestionType::score); }
  // choice: id of the most probable option. "" for other types.
  std::string_view choice() const noexcept {
    return *this && type() == QuestionType::choice ? option_id(top()) : std::string_view();
  }

  // All options with their probabilities, in request order.
  Probabilities probabilities() const noexcept { return {decision_, question_}; }
  // Probability of one option by its id; NaN when there is none of this id.
  double probability(std::string_view option) const noexcept {
    for (const OptionProbability each : probabilities())
      if (each.id == option) return static_cast<double>(each.probability);
    return std::numeric_limits<double>::quiet_NaN();
  }
  // Index (request order) of the most probable option, the first among equals; SIZE_MAX when the question is unknown.
  std::size_t top() const noexcept { return clef_decision_top(decision_, question_); }
  std::size_t option_count() const noexcept { return clef_decision_option_count(decision_, question_); }
  // "" when there is no such option.
  std::string_view option_id(std::size_t option) const noexcept {
    std::size_t size = 0;
    const char* text = clef_decision_option_id(decision_, question_, option, &size);
    return detail::view(text, size);
  }
  // How sure the model is, 0 to 1.
  double confidence(Confidence formula = Confidence::max) const noexcept {
    return clef_decision_confidence(decision_, question_, static_cast<clef_confidence>(formula));
  }
  // Logits of the options in request order, before the softmax.
  View<float> logits() const noexcept {
    const float* values = clef_decision_logits(decision_, question_);
    return {values, values != nullptr ? option_count() : 0};
  }
  // Where the instruction, or an option, stands in the prompt; nothing when there is no such question or option.
  std::optional<Span> span(std::size_t option = SIZE_MAX) const noexcept {
    Span span;
    if (clef_decision_span(decision_, question_, option, &span.begin, &span.end) != CLEF_OK) return std::nullopt;
    return span;
  }

 private:
  double value_of(QuestionType wanted) const noexcept {
    if (!*this || type() != wanted) return std::numeric_limits<double>::quiet_NaN();
    return clef_decision_value(decision_, question_);
  }

  const clef_decision* decision_;
  std::size_t question_;
};

// The result of one decision; needs no other object. Move-only. Thread-safety: any number of threads at once.
class Decision {
 public:
  class Iterator {
   public:
    Iterator(const clef_decision* decision, std::size_t question) noexcept : decision_(decision), question_(question) {}
    Answer operator*() const noexcept { return {decision_, question_}; }
    Iterator& operator++() noexcept {
      ++question_;
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept { return question_ == other.question_; }
    bool operator!=(const Iterator& other) const noexcept { return question_ != other.question_; }

   private:
    const clef_decision* decision_;
    std::size_t question_;
  };

  // Takes over a C handle.
  explicit Decision(clef_decision* owned) noexcept : handle_(owned) {}

  // Number of answers, which are in the order of the questions.
  std::size_t size() const noexcept { return clef_decision_count(handle_.get()); }
  Iterator begin() const noexcept { return {handle_.get(), 0}; }
  Iterator end() const noexcept { return {handle_.get(), size()}; }
  // The answer to a question; see Answer for one that does not exist.
  Answer operator[](std::string_view id) const noexcept {
    return {handle_.get(), clef_decision_find(handle_.get(), detail::data(id), id.size())};
  }
  Answer operator[](std::size_t question) const noexcept { return {handle_.get(), question}; }
  // The same, or nothing.
  std::optional<Answer> find(std::string_view id) const noexcept {
    const Answer answer = (*this)[id];
    if (!answer) return std::nullopt;
    return answer;
  }

  // Tokens that were read (after any cut), and tokens that were cut off the state's end.
  std::uint64_t input_tokens() const noexcept { return clef_decision_input_tokens(handle_.get()); }
  std::uint64_t tokens_dropped() const noexcept { return clef_decision_tokens_dropped(handle_.get()); }
  // Token ids of the prompt.
  View<std::int32_t> ids() const noexcept {
    const std::int32_t* ids = clef_decision_ids(handle_.get());
    return {ids, ids != nullptr ? static_cast<std::size_t>(input_tokens()) : 0};
  }
  // Time spent in a stage.
  std::chrono::nanoseconds time(Stage stage) const noexcept {
    return std::chrono::nanoseconds(clef_decision_time(handle_.get(), static_cast<clef_stage>(stage)));
  }
  // The response {"model","answers","usage"} and "detail" when asked for. Lives as long as this object.
  std::string_view json() const noexcept {
    std::size_t size = 0;
    const char* text = clef_decision_json(handle_.get(), &size);
    return detail::view(text, size);
  }
  // The C handle, still owned by this object.
  const clef_decision* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_decision, &clef_decision_free> handle_;
};

}  // namespace v0
}  // namespace clef
