// A value made by the first who needs it.
#pragma once
#include <memory>
#include <mutex>

#include "base/status.hpp"

namespace clef::base {

// Thread-safety: any number of threads; others wait while one makes the value. After an error the next one tries again.
template <class T>
class Lazy {
 public:
  // make: () -> Result<std::unique_ptr<const T>>
  template <class Make>
  Result<const T*> get(Make&& make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!value_) {
      CLEF_ASSIGN_OR_RETURN(value_, make());
    }
    return value_.get();
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<const T> value_;
};

}  // namespace clef::base
