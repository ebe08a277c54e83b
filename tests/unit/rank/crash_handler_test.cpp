#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <distrun/plugin/rank/crash_handler.hpp>
#include <distrun/plugin/rank/stack_dump.hpp>

#include "../../fixtures/crash_sites/sites.hpp"
#include "../support/forked.hpp"
#include "shared_area.hpp"
#include "symbols.hpp"

using namespace distrun;
using distrun::testing::ForkedEnd;
using distrun::testing::SharedArea;
using distrun::testing::Symbols;

#if DISTRUN_SANITIZED
// Crashes must stay crashes: the sanitizer would turn them into exit codes.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
}
#endif

namespace {

struct Crash {
  ForkedEnd end;
  std::optional<board::Dump> dump;
};

// Runs `body` in a child with the handler installed; discards its output.
template <class Body>
Crash crash(const Body& body) {
  const SharedArea area;
  Crash crash;
  crash.end = testing::in_child([&] {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    rank::install_crash_handler(*area);
    body();
    return 0;
  });
  crash.dump = board::read(*area);
  return crash;
}

const wire::RawThread& crashed_thread(const Crash& crash) {
  for (const auto& thread : crash.dump->stacks.threads) {
    if (thread.crashed) return thread;
  }
  throw std::runtime_error("no thread of the dump has crashed");
}

std::atomic<int> parked{0};
void park() {
  ++parked;
  parked.notify_all();
  for (;;) ::pause();
}
void await_parked(int count) {
  for (int now = parked; now < count; now = parked) parked.wait(now);
}

}  // namespace

namespace {

void compare_crash(const Symbols& symbols, const fixtures::CrashSite& site, int signal) {
  INFO(site.site << " by " << fixtures::name_of_signal(signal));
  const Crash result = crash([&] { fixtures::crash_at(site.site, signal); });
  CHECK(result.end == ForkedEnd{-1, signal});
  const bool seen = !fixtures::holds(site.unseen, signal);
  CHECK(result.dump.has_value() == seen);
  if (!seen || !result.dump) return;
  CHECK(result.dump->complete);
  CHECK(result.dump->signal == signal);
  const auto expected = fixtures::place_of(DISTRUN_CRASH_SOURCES, site.site);
  const auto place = symbols.innermost_in(crashed_thread(result), expected.file);
  CHECK(place.function == site.function);
  if (!fixtures::holds(site.any_line, signal)) CHECK(place.line == expected.line);
  if (site.above_body) CHECK(symbols.has_function(crashed_thread(result), "main"));
  CHECK(result.dump->exception_type == site.exception_type);
  CHECK(result.dump->exception_text == site.exception_text);
}

}  // namespace

TEST_CASE("each crash site dies by its signal and is found by function and line", "[crash]") {
  const Symbols symbols;
  for (const auto& site : fixtures::crash_sites()) {
    // Signals during a wait for a child arrive in the sanitizer's code, out of which the rank cannot unwind.
    if (DISTRUN_SANITIZED && site.changed_by != fixtures::Sanitizer::None) continue;
    for (const int signal : site.signals) compare_crash(symbols, site, signal);
  }
}

TEST_CASE("a stack overflow has its fault beside the end of the stack, other faults are far away") {
  const auto distance = [](const char* site) {
    const Crash result = crash([&] { fixtures::crash_at(site, SIGSEGV); });
    REQUIRE(result.dump);
    REQUIRE(result.dump->stack_pointer != 0);
    return std::llabs(static_cast<long long>(result.dump->address - result.dump->stack_pointer));
  };
  CHECK(distance("stack_overflow") < 4096);
  CHECK(distance("plain_function") > 1 << 20);
}

TEST_CASE("a crash shows all other threads, with a reason for each that cannot answer") {
  const Crash result = crash([] {
    std::thread(park).detach();
    std::thread([] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, nullptr);
      park();
    }).detach();
    await_parked(2);
    fixtures::crash_at("plain_function", SIGSEGV);
  });
  REQUIRE(result.dump);
  const auto& threads = result.dump->stacks.threads;
  REQUIRE(threads.size() == 3);
  const Symbols symbols;
  CHECK(threads[0].crashed);
  CHECK(symbols.has_function(threads[1], "park"));
  CHECK(threads[2].pcs.empty());
  CHECK(threads[2].why_none == "it blocks the signal for stacks");
}

TEST_CASE("threads that crash at the same time end the process by a signal and record one crash") {
  const Crash result = crash([] {
    static std::atomic<int> ready{0};
    const auto body = [] {
      ++ready;
      while (ready < 4) std::this_thread::yield();
      fixtures::crash_at("plain_function", SIGSEGV);
    };
    for (int i = 0; i < 3; ++i) std::thread(body).detach();
    body();
  });
  CHECK(result.end.signal == SIGSEGV);
  REQUIRE(result.dump);
  int crashed = 0;
  for (const auto& thread : result.dump->stacks.threads) crashed += thread.crashed ? 1 : 0;
  CHECK(crashed == 1);
}

TEST_CASE("a thread crashes while another one continuously requests stacks") {
  const Crash result = crash([] {
    std::thread([] {
      static board::DumpArea area;
      for (;;) {
        rank::dump_stacks(area, rank::Asker::Request);
        parked = 1;
        parked.notify_all();
      }
    }).detach();
    await_parked(1);
    fixtures::crash_at("plain_function", SIGSEGV);
  });
  CHECK(result.end.signal == SIGSEGV);
  REQUIRE(result.dump);
  CHECK(result.dump->complete);
  CHECK(result.dump->stacks.threads.size() == 2);
}

TEST_CASE("signal handlers that were installed earlier are kept") {
  const Crash result = crash([] {
    ::signal(SIGSEGV, [](int) { ::_exit(7); });
    fixtures::crash_at("plain_function", SIGSEGV);
  });
  CHECK(result.end == ForkedEnd{7, 0});
  const SharedArea area;
  const ForkedEnd end = testing::in_child([&] {
    ::signal(SIGFPE, [](int) { ::_exit(8); });
    rank::install_crash_handler(*area);
    fixtures::crash_at("plain_function", SIGFPE);
    return 0;
  });
  CHECK(end == ForkedEnd{8, 0});
}

TEST_CASE("the crash of a child that a test forks is not the rank's") {
  const Crash result = crash([] {
    const ForkedEnd end = testing::in_child([] {
      fixtures::crash_at("exception_int", SIGABRT);
      return 0;
    });
    ::_exit(end.signal);
  });
  CHECK(result.end == ForkedEnd{SIGABRT, 0});
  CHECK_FALSE(result.dump);
}

TEST_CASE("a broken stack gives the frames that could be read, and the signal stays the same") {
  const Crash result = crash([] {
    asm volatile(
        "xor %%ebp, %%ebp\n"
        "mov $0x10, %%esp\n"  // unmapped: not a single frame can be unwound
        "movl $1, 0\n" ::
            : "memory");
  });
  CHECK(result.end.signal == SIGSEGV);
  REQUIRE(result.dump);
  CHECK(result.dump->complete);
  CHECK(crashed_thread(result).pcs.size() >= 1);
}
