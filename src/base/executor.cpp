#include "base/executor.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/fp_env.hpp"
#include "base/thread_setup.hpp"

namespace clef::base {
namespace {

class SerialExecutor final : public Executor {
 public:
  void parallel_for(size_t n, Task task, void* context) noexcept override {
    for (size_t i = 0; i < n; ++i) task(i, context);
  }
  uint32_t concurrency() const noexcept override { return 1; }
};

class PoolExecutor final : public Executor {
 public:
  explicit PoolExecutor(uint32_t threads) noexcept : threads_(threads), owner_(process_id()) {}

  ~PoolExecutor() override {
    if (workers_.empty()) return;
    if (process_id() != owner_) {  // threads do not survive a fork: nothing to join
      for (std::thread& worker : workers_) worker.detach();
      return;
    }
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  void parallel_for(size_t n, Task task, void* context) noexcept override {
    if (n <= 1) {
      if (n == 1) task(0, context);
      return;
    }
    Job job{task, context, n, {}, 0, nullptr};
    {
      std::lock_guard lock(mutex_);
      start_workers();
      job.next_job = jobs_;
      jobs_ = &job;
    }
    wake_.notify_all();
    run(job);
    std::unique_lock lock(mutex_);
    remove(job);
    done_.wait(lock, [&] { return job.helpers == 0; });
  }

  uint32_t concurrency() const noexcept override { return threads_; }
  bool started() const noexcept override { return started_.load(std::memory_order_relaxed); }

 private:
  struct Job {
    Task task;
    void* context;
    size_t count;
    std::atomic<size_t> next;
    size_t helpers;  // workers inside run(), guarded by mutex_
    Job* next_job;   // list of open jobs, guarded by mutex_
  };

  static void run(Job& job) noexcept {
    for (size_t i; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < job.count;) job.task(i, job.context);
  }

  void remove(Job& job) noexcept {
    for (Job** link = &jobs_; *link; link = &(*link)->next_job) {
      if (*link == &job) {
        *link = job.next_job;
        return;
      }
    }
  }

  void start_workers() noexcept {
    if (started_.load(std::memory_order_relaxed)) return;
    started_.store(true, std::memory_order_relaxed);
    try {
      workers_.reserve(threads_ - 1);
      for (uint32_t i = 1; i < threads_; ++i) workers_.emplace_back([this] { work(); });
    } catch (const std::exception&) {
      // Fewer threads than asked for: slower, never wrong.
    }
  }

  void work() noexcept {
    set_up_worker_thread();
    const ScopedFpEnvironment fp_environment;
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = jobs_;
      while (job && job->next.load(std::memory_order_relaxed) >= job->count) job = job->next_job;
      if (job) {
        ++job->helpers;
        lock.unlock();
        run(*job);
        lock.lock();
        if (--job->helpers == 0) done_.notify_all();
        continue;
      }
      if (stopping_) return;
      wake_.wait(lock);
    }
  }

  const uint32_t threads_;
  const uint64_t owner_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* jobs_ = nullptr;
  bool stopping_ = false;
  std::atomic<bool> started_{false};
  std::vector<std::thread> workers_;
};

class HostPoolExecutor final : public Executor {
 public:
  explicit HostPoolExecutor(HostExecutor host) noexcept : host_(host) {}

  void parallel_for(size_t n, Task task, void* context) noexcept override {
    if (n <= 1) {
      if (n == 1) task(0, context);
      return;
    }
    Call call{task, context};
    host_.parallel_for(
        host_.user, n,
        [](size_t index, void* argument) {
          const ScopedFpEnvironment fp_environment;
          const Call& c = *static_cast<const Call*>(argument);
          c.task(index, c.context);
        },
        &call);
  }
  uint32_t concurrency() const noexcept override {
    const uint32_t count = host_.concurrency ? host_.concurrency(host_.user) : 1;
    return count == 0 ? 1 : count;
  }

 private:
  struct Call {
    Task task;
    void* context;
  };
  HostExecutor host_;
};

}  // namespace

std::unique_ptr<Executor> make_serial_executor() {
  return std::make_unique<SerialExecutor>();
}
std::unique_ptr<Executor> make_pool_executor(uint32_t threads) {
  if (threads <= 1) return make_serial_executor();
  return std::make_unique<PoolExecutor>(threads);
}
std::unique_ptr<Executor> make_host_executor(HostExecutor host) {
  return std::make_unique<HostPoolExecutor>(host);
}

}  // namespace clef::base
