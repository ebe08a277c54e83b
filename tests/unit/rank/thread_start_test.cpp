#include <catch2/catch.hpp>

#include <pthread.h>
#include <signal.h>
#include <threads.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>

#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/base/signal_stack.hpp>
#include <distrun/plugin/rank/thread_start.hpp>

#include "support/skip.hpp"

using namespace distrun;

namespace {

bool has_signal_stack() {
  stack_t stack{};
  return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0 &&
         stack.ss_size == base::SignalStack::kSize;
}

void* note_and_exit(void* has) {
  *static_cast<bool*>(has) = has_signal_stack();
  ::pthread_exit(has);
}

int note(void* has) {
  *static_cast<bool*>(has) = has_signal_stack();
  return 7;
}

long mappings() {
  std::ifstream maps("/proc/self/maps");
  long count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

void require_stacks() {
  testing::skip_case_if(base::kSanitized, "a sanitizer gives its own");
  rank::give_threads_signal_stacks();
}

}  // namespace

TEST_CASE("threads have a signal stack, however they are started, and return their results") {
  require_stacks();
  bool has = false;
  std::thread([&] { has = has_signal_stack(); }).join();
  CHECK(has);

  bool has_posix = false;
  pthread_t posix{};
  REQUIRE(::pthread_create(&posix, nullptr, note_and_exit, &has_posix) == 0);
  void* result = nullptr;
  REQUIRE(::pthread_join(posix, &result) == 0);
  CHECK(has_posix);
  CHECK(result == &has_posix);

  bool has_c = false;
  thrd_t c{};
  REQUIRE(::thrd_create(&c, note, &has_c) == thrd_success);
  int code = 0;
  REQUIRE(::thrd_join(c, &code) == thrd_success);
  CHECK(has_c);
  CHECK(code == 7);
}

TEST_CASE("a failure to start a thread is returned to the caller") {
  require_stacks();
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  REQUIRE(::pthread_attr_setstacksize(&attributes, std::size_t{1} << 62) == 0);
  bool has = false;
  pthread_t never{};
  CHECK(::pthread_create(&never, &attributes, note_and_exit, &has) != 0);
  ::pthread_attr_destroy(&attributes);
}

TEST_CASE("a thread with its own signal stack keeps it, and an exited thread leaves none") {
  require_stacks();
  std::array<char, 64 << 10> memory;
  const auto replace = [&] {
    stack_t own{};
    own.ss_sp = memory.data();
    own.ss_size = memory.size();
    ::sigaltstack(&own, nullptr);
  };
  std::thread(replace).join();
  const long before = mappings();
  for (int i = 0; i < 200; ++i) {
    std::thread([] {}).join();
    std::thread(replace).join();
  }
  CHECK(mappings() < before + 20);
}
