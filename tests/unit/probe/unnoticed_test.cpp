#include <catch2/catch.hpp>

#include <signal.h>

#include <chrono>

#include "fixtures/states/waits.hpp"
#include "in_state.hpp"
#include "support/probe_client.hpp"

using namespace distrun;
using namespace distrun::testing;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLooks = 50;
constexpr std::chrono::milliseconds kUnnoticedLimit{5'000};
// A timed wait that restarted after a snapshot ends late, if the snapshot was late enough.
constexpr std::chrono::milliseconds kLookAtLeast{(states::kWaitsLate - states::kWaitsTimeOut) * 1'000 + 500};

const wire::ThreadStack* thread_in(const ProbeReply& reply, const std::string& function) {
  for (const wire::ThreadStack& thread : reply.processes.at(0).threads) {
    if (reply.has_function(thread, function)) return &thread;
  }
  return nullptr;
}

void check_calls(const ProbeReply& reply) {
  INFO(reply.text());
  for (const wire::ThreadStack& thread : reply.processes.at(0).threads) {
    CHECK_FALSE(thread.task.syscall.starts_with("restart_syscall"));
  }
  for (const char* caller : {"write_much", "sendmsg_much", "receive_all", "epoll_for_a_time", "epoll_for_ever",
                             "sigwait_for_a_time", "semop_for_a_time", "semop_for_ever", "sleep_for_a_time"}) {
    INFO(caller);
    CHECK(thread_in(reply, caller) != nullptr);
  }
}

}  // namespace

TEST_CASE("every wait of a process that is probed repeatedly ends as if undisturbed") {
  const fixtures::Build build = GENERATE(fixtures::Build::Plain, fixtures::Build::Lean);
  InState subject("waits", build);
  REQUIRE(subject.reaches('S'));
  wire::ProbeOrder order;
  order.pids = {subject.pid()};
  order.samples = 2;
  order.interval_ms = 1;
  const Clock::time_point since = Clock::now();
  for (int look = 0; look < kLooks || Clock::now() - since < kLookAtLeast; ++look) {
    const ProbeReply reply = ask_probe(order, kUnnoticedLimit);
    REQUIRE(reply.done);
    if (look == kLooks / 10) check_calls(reply);
  }
  ::kill(subject.pid(), SIGUSR1);
  CHECK(subject.wait() == 0);
}
