#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>

#include "support/skip.hpp"

namespace distrun::tensor {
namespace {

using Part = std::pair<std::int64_t, std::int64_t>;

std::set<Part> parts_of(std::int64_t count, std::int64_t grain) {
  std::mutex mutex;
  std::set<Part> parts;
  parallel_for(count, grain, [&](std::int64_t first, std::int64_t end) {
    const std::lock_guard lock(mutex);
    parts.emplace(first, end);
  });
  return parts;
}

bool makes_up(const std::set<Part>& parts, std::int64_t count, std::int64_t grain) {
  std::int64_t at = 0;
  for (const auto& [first, end] : parts) {
    if (first != at || first % grain != 0 || end <= first) return false;
    at = end;
  }
  return at == count;
}

}  // namespace

TEST_CASE("the parts of a loop cover all of it, with borders at the grain") {
  for (const int number : {1, 2, 3, 7}) {
    const ThreadsGuard guard(number);
    for (const std::int64_t count : {0, 1, 9, 10, 11, 100, 1001, 12345}) {
      for (const std::int64_t grain : {1, 10, 64}) {
        INFO(number << " threads, " << count << " by " << grain);
        CHECK(makes_up(parts_of(count, grain), count, grain));
      }
    }
  }
}

TEST_CASE("every element of a loop is processed once, beside any other loops") {
  const ThreadsGuard guard(4);
  constexpr std::int64_t kCount = 10'000;
  std::atomic<int> wrong = 0;
  const auto run = [&wrong] {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> made(kCount);
      parallel_for(kCount, 100, [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first; i < end; ++i) made[static_cast<std::size_t>(i)].fetch_add(1);
      });
      for (const std::atomic<int>& each : made) wrong += each.load() != 1;
    }
  };
  std::thread other(run), third(run);
  run();
  other.join();
  third.join();
  CHECK(wrong.load() == 0);
}

TEST_CASE("a nested loop is complete, too") {
  const ThreadsGuard guard(3);
  std::atomic<std::int64_t> sum = 0;
  parallel_for(40, 1, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      parallel_for(10, 1, [&](std::int64_t from, std::int64_t to) { sum += to - from; });
    }
  });
  CHECK(sum.load() == 400);
}

TEST_CASE("a loop works in a fork of a process with helper threads") {
  testing::skip_case_if(base::kThreadSanitizer,
                        "the thread sanitizer lets no fork of a process with threads begin any");
  const ThreadsGuard guard(4);
  parts_of(1000, 1);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(makes_up(parts_of(1000, 1), 1000, 1) ? 0 : 1);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("the number of threads is that of the environment, and 1 if it is invalid") {
  const auto told = [](const char* text) {
    ::setenv("DISTRUN_THREADS", text, 1);
    return threads();
  };
  CHECK(told("3") == 3);
  CHECK(told("0") == 1);
  CHECK(told("-5") == 1);
  CHECK(told("many") == 1);
  CHECK(told("") == 1);
  CHECK(told("1000") == kMostThreads);
  CHECK(told("99999999999999999999") == 1);
  ::unsetenv("DISTRUN_THREADS");
  CHECK(threads() == 1);
}

TEST_CASE("a guard's number of threads applies to its scope, and must be valid") {
  {
    const ThreadsGuard outer(2);
    const ThreadsGuard inner(5);
    CHECK(threads() == 5);
  }
  CHECK(threads() == 1);
  CHECK_THROWS_AS(ThreadsGuard(0), Error);
  CHECK_THROWS_AS(ThreadsGuard(kMostThreads + 1), Error);
  CHECK(threads() == 1);
}

}  // namespace distrun::tensor
