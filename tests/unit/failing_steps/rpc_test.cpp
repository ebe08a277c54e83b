// Calls of two workers that are threads, within the process and through shared memory, and of a worker to itself.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "support/process.hpp"
#include "unit/failing_steps/attempt.hpp"
#include "unit/failing_steps/workers.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

const std::string kArgument(60, 'v');  // no value of a string within itself

std::string steps_twice(const std::string& text) { return text + text; }
DISTRUN_RPC(steps_twice)

Future<std::string> steps_later(const std::string& text) {
  const Future<std::string> made;
  const auto later = made.then([text](const Future<std::string>&) { return text + text; });
  made.set_result("");
  return later;
}
DISTRUN_RPC_ASYNC(steps_later)

std::atomic<bool> steps_are_held{false};  // calls of steps_wait() return once it is false

std::string steps_wait(const std::string& text) {
  while (steps_are_held) steps_are_held.wait(true);
  return text;
}
DISTRUN_RPC(steps_wait)

std::string steps_throw(const std::string& text) { throw Error(ErrorKind::InvalidArgument, text); }
DISTRUN_RPC(steps_throw)

void require_call(const Workers& workers, int from, int to) {
  workers.as(from, [to] {
    require(rpc::rpc_sync<std::string>(to, "steps_twice", "ab") == "abab", "another call is answered");
  });
}

void require_calls(const Workers& workers) {
  require_call(workers, 0, 1);
  require_call(workers, 1, 0);
  require_call(workers, 0, 0);
}

// After the step calls in both directions work, and so does a graceful shutdown. Between processes the session may have
// ended instead, since a worker without memory for a message cannot read the next one; calls fail at once then, and the
// next session works.
void require_works(const Workers& workers, const std::string& agent) {
  try {
    require_calls(workers);
  } catch (const Error& error) {
    if (agent == "inproc" || error.kind() != ErrorKind::Disconnected || !has_failed_step()) throw;
    workers.end_all();
    workers.init_all();
    require_calls(workers);
  }
  workers.shut_down_all();
}

// The error says what was wanting; between processes it may say instead that the other worker ended the session.
void may_fail(Attempt& attempt, const std::string& agent, const std::function<void()>& call) {
  agent == "inproc" ? attempt.may_fail_for_want(call) : attempt.may_fail_or_be_cut(call);
}

// A call of rank 0 that may fail. `is_first`: no message was sent before.
void try_call(const std::function<void()>& call, bool is_first = false) {
  const std::string agent = GENERATE(as<std::string>(), "inproc", "shm");
  every_step_may_fail([&](Attempt& attempt) {
    const Workers workers(agent, 2);
    workers.init_all();
    if (!is_first) require_calls(workers);
    workers.as(0, [&] { may_fail(attempt, agent, call); });
    require_works(workers, agent);
  });
}

TEST_CASE("the first call to a worker is answered or fails") {
  try_call(
      [] { require(rpc::rpc_sync<std::string>(1, "steps_twice", kArgument) == kArgument + kArgument, "the answer"); },
      true);
}

TEST_CASE("a call is answered or fails") {
  try_call(
      [] { require(rpc::rpc_sync<std::string>(1, "steps_twice", kArgument) == kArgument + kArgument, "the answer"); });
}

TEST_CASE("a call to oneself is answered or fails") {
  try_call(
      [] { require(rpc::rpc_sync<std::string>(0, "steps_twice", kArgument) == kArgument + kArgument, "the answer"); });
}

TEST_CASE("an asynchronous call of a function that answers later is answered or fails") {
  try_call([] {
    const auto answer = rpc::rpc_async<std::string>(1, "steps_later", kArgument);
    require(answer.wait() == kArgument + kArgument, "the answer");
  });
}

// The table of operators is made by the first call.
TEST_CASE("a call of an operator is answered or fails") {
  rpc::is_operator("add");
  try_call([] {
    const auto sum = rpc::rpc_sync<Tensor>(1, "add", tensor::full({4}, 1.0), tensor::full({4}, 2.0));
    require(sum.data_as<float>()[3] == 3, "the sum");
  });
}

// The thread of timeouts ends it, or the thread that waits for it.
TEST_CASE("a call that times out ends, whichever step fails") {
  const std::string agent = GENERATE(as<std::string>(), "inproc", "shm", "uds");
  const bool is_async = GENERATE(false, true);
  every_step_may_fail([&](Attempt& attempt) {
    const Workers workers(agent, 2);
    workers.init_all();
    require_calls(workers);
    steps_are_held = true;
    workers.as(0, [&] {
      attempt.may_fail_or_time_out([&] {
        const auto to = rpc::to("worker1").within(0.02);
        const std::string large(400'000, 'v');  // more than a ring: its end may wait in the queue
        is_async ? rpc::rpc_async<std::string>(to, "steps_wait", large).wait()
                 : rpc::rpc_sync<std::string>(to, "steps_wait", large);
      });
    });
    steps_are_held = false;
    steps_are_held.notify_all();
    require_works(workers, agent);
  });
}

TEST_CASE("a call that throws tells why, or that it has failed") {
  const std::string agent = GENERATE(as<std::string>(), "inproc", "shm");
  every_step_may_fail([&](Attempt& attempt) {
    const Workers workers(agent, 2);
    workers.init_all();
    const auto call = [] {
      try {
        rpc::rpc_sync<std::string>(1, "steps_throw", kArgument);
        throw Fault{"the call has not thrown"};
      } catch (const Error& error) {
        if (error.text().find(kArgument) == std::string::npos) throw;
      }
    };
    workers.as(0, [&] {
      call();  // reads the symbols of the program, once
      may_fail(attempt, agent, call);
    });
    require_works(workers, agent);
  });
}

}  // namespace
}  // namespace distrun
