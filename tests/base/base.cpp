// Executors, memory accounting, the floating-point environment, statuses, watches.
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "base/cpu.hpp"
#include "base/executor.hpp"
#include "base/fp_env.hpp"
#include "base/hooks.hpp"
#include "base/memory.hpp"
#include "base/status.hpp"
#include "support/catch.hpp"

using namespace clef;

namespace {

// Runs n tasks and checks that each ran once.
void check_once(base::Executor& executor, size_t n) {
  std::vector<std::atomic<int>> runs(n);
  base::parallel_for(executor, n, [&](size_t i) { runs[i].fetch_add(1); });
  for (size_t i = 0; i < n; ++i)
    if (runs[i] != 1) FAIL("task " << i << " ran " << runs[i] << " times");
}

void reversed(void*, size_t n, void (*task)(size_t, void*), void* argument) {
  for (size_t i = n; i-- > 0;) task(i, argument);
}

}  // namespace

TEST_CASE("every executor runs each task once") {
  std::vector<std::unique_ptr<base::Executor>> executors;
  executors.push_back(base::make_serial_executor());
  for (const uint32_t threads : {1u, 2u, 3u, 8u}) executors.push_back(base::make_pool_executor(threads));
  executors.push_back(base::make_host_executor({reversed, nullptr, nullptr}));
  for (const auto& executor : executors)
    for (const size_t n : {0, 1, 2, 7, 1000})
      for (int repeat = 0; repeat < 20; ++repeat) check_once(*executor, n);
}

TEST_CASE("a pool serves several callers and nested calls") {
  const auto pool = base::make_pool_executor(3);
  std::vector<std::thread> callers;
  std::atomic<size_t> total{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat)
        base::parallel_for(*pool, 8,
                           [&](size_t) { base::parallel_for(*pool, 5, [&](size_t) { total.fetch_add(1); }); });
    });
  for (std::thread& caller : callers) caller.join();
  REQUIRE(total == 4u * 50 * 8 * 5);
}

TEST_CASE("a pool starts no thread before its first use, and none for one thread") {
  const auto pool = base::make_pool_executor(4);
  REQUIRE(!pool->started());
  check_once(*pool, 10);
  REQUIRE(pool->started());
  const auto single = base::make_pool_executor(1);
  check_once(*single, 10);
  REQUIRE(!single->started());
  std::set<std::thread::id> ids;
  base::parallel_for(*single, 10, [&](size_t) { ids.insert(std::this_thread::get_id()); });
  REQUIRE(ids == std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_CASE("at least one thread may be used") {
  REQUIRE(base::available_threads() >= 1);
}

TEST_CASE("memory is counted in child and parent, with a limit") {
  base::Memory parent{base::Allocator{}};
  base::Memory child(parent);
  {
    auto buffer = base::Buffer::create(child, 1000, "rows");
    REQUIRE(buffer.ok());
    REQUIRE(reinterpret_cast<uintptr_t>(buffer.value().data()) % base::kAlignment == 0);
    REQUIRE(child.used() == 1000);
    REQUIRE(parent.used() == 1000);
    base::Buffer moved = std::move(buffer).value();
    REQUIRE(child.used() == 1000);
    child.set_limit(1500);
    auto refused = base::Buffer::create(child, 501, "more rows");
    REQUIRE(!refused.ok());
    REQUIRE(refused.status().code() == base::Code::memory_limit);
    REQUIRE(std::string(refused.status().message()).find("1500") != std::string::npos);
    REQUIRE(base::Buffer::create(child, 500, "rows").ok());
  }
  REQUIRE(child.used() == 0);
  REQUIRE(parent.used() == 0);
  REQUIRE(parent.peak() == 1500);
  REQUIRE(child.peak() == 1500);
  child.reset_peak();
  REQUIRE(child.peak() == 0);
  parent.set_limit(100);
  child.set_limit(0);
  const auto by_parent = base::Buffer::create(child, 200, "rows");  // the parent's limit holds for its children
  REQUIRE(!by_parent.ok());
  REQUIRE(by_parent.status().code() == base::Code::memory_limit);
  REQUIRE(std::string(by_parent.status().message()).find("limit of 100 bytes") != std::string::npos);
  REQUIRE(child.used() == 0);
  const auto huge = base::Buffer::create(child, UINT64_MAX, "rows");
  REQUIRE(!huge.ok());
}

TEST_CASE("the host's allocator gets every size back") {
  struct Host {
    size_t balance = 0;
    int left = 2;
  } host;
  base::Allocator allocator;
  allocator.user = &host;
  allocator.allocate = [](size_t size, size_t alignment, void* user) -> void* {
    auto& h = *static_cast<Host*>(user);
    if (h.left-- <= 0) return nullptr;
    h.balance += size;
    return ::operator new (size, std::align_val_t{alignment});
  };
  allocator.free = [](void* pointer, size_t size, size_t alignment, void* user) {
    static_cast<Host*>(user)->balance -= size;
    ::operator delete (pointer, std::align_val_t{alignment});
  };
  base::Memory memory(allocator);
  {
    auto a = base::Buffer::create(memory, 10, "a"), b = base::Buffer::create(memory, 20, "b"),
         c = base::Buffer::create(memory, 30, "c");
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    REQUIRE(!c.ok());
    REQUIRE(c.status().code() == base::Code::out_of_memory);
    REQUIRE(host.balance == 30);
  }
  REQUIRE(host.balance == 0);
  REQUIRE(memory.used() == 0);
}

#if defined(__x86_64__)
TEST_CASE("the floating-point environment is set for our arithmetic and given back") {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040 | (1u << 13));  // flush to zero, denormals are zero, round down
  const unsigned host = _mm_getcsr();
  {
    const base::ScopedFpEnvironment scope;
    volatile float tiny = 1e-38f;
    const float smaller = tiny * 0.1f;
    REQUIRE(smaller != 0.0f);
    REQUIRE((_mm_getcsr() & 0xE040) == 0);
  }
  REQUIRE(_mm_getcsr() == host);
  // Pool threads have their own clean environment whatever the caller's is.
  const auto pool = base::make_pool_executor(2);
  _mm_setcsr(before);
  std::atomic<int> wrong{0};
  base::parallel_for(*pool, 64, [&](size_t) {
    if ((_mm_getcsr() & 0xE040) != 0) ++wrong;
  });
  REQUIRE(wrong == 0);
}
#endif

TEST_CASE("a status carries its place") {
  const base::Status ok;
  REQUIRE(ok.ok());
  REQUIRE(ok.code() == base::Code::ok);
  const base::Status status =
      base::Status(base::Code::bad_file, "is cut off").in_file("a.gguf").in_tensor("w").at_offset(12).at("/state");
  REQUIRE(!status.ok());
  REQUIRE(status.detail().file == "a.gguf");
  REQUIRE(status.detail().tensor == "w");
  REQUIRE(status.detail().offset == 12);
  REQUIRE(status.detail().has_at);
  REQUIRE(base::code_name(base::Code::too_long) == "too_long");
  REQUIRE(base::code_name(static_cast<base::Code>(-5)) == "unknown");
}

TEST_CASE("a watch trips by flag and by poll") {
  std::atomic<bool> flag{false};
  base::Hooks hooks;
  hooks.cancel = &flag;
  base::Watch watch(hooks);
  REQUIRE(watch.check().ok());
  flag = true;
  REQUIRE(watch.tripped());
  REQUIRE(watch.check().code() == base::Code::cancelled);
  base::Hooks polled;
  polled.poll = [](void*) { return true; };
  base::Watch other(polled);
  REQUIRE(!other.tripped());
  REQUIRE(other.check().code() == base::Code::cancelled);
  REQUIRE(other.tripped());
}

TEST_CASE("instruction set levels have names") {
  REQUIRE(base::isa_name(base::IsaLevel::baseline) == "baseline");
  REQUIRE(base::isa_name(base::detect_isa()) != "unknown");
}
