// Sessions of RPC end, and references to values, between two workers that are threads.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rref/references.hpp>
#include <distrun/runtime/rref/rref.hpp>

#include "support/process.hpp"
#include "unit/failing_steps/attempt.hpp"
#include "unit/failing_steps/workers.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

const std::string kValue(60, 'v');  // no value of a string within itself

std::string steps_same(const std::string& text) { return text; }
DISTRUN_RPC(steps_same)

std::atomic<bool> has_begun{false}, may_return{false};
int steps_block(int number) {
  has_begun = true;
  may_return.wait(false);
  return number;
}
DISTRUN_RPC(steps_block)

std::string steps_fetch(const RRef<std::string>& value) { return value.to_here(); }
DISTRUN_RPC(steps_fetch)

// Both workers end their sessions, whether what came before has failed or not; then they can meet again.
void require_next_session(const Workers& workers) {
  workers.end_all();
  workers.init_all();
  workers.as(0, [] { require(rpc::rpc_sync<std::string>(1, "steps_same", "a") == "a", "the next session works"); });
  workers.as(1, [] { require(rpc::rpc_sync<std::string>(0, "steps_same", "b") == "b", "the next session works"); });
  workers.shut_down_all();
}

void shut_down(const char* agent, bool is_graceful) {
  every_step_may_fail([&](Attempt& attempt) {
    const Workers workers(agent, 2);
    workers.init_all();
    workers.as(0, [] { rpc::rpc_sync<std::string>(1, "steps_same", "a"); });
    workers.on_all([&](int) {
      attempt.may_fail([&] { rpc::shutdown({.graceful = is_graceful, .timeout = 10}); });
      require(!rpc::is_initialized(), "the session is over");
    });
    require_next_session(workers);
  });
}

TEST_CASE("a graceful shutdown succeeds or tells what was wanting") { shut_down("inproc", true); }
TEST_CASE("a shutdown at once ends the session, whichever step fails") { shut_down("inproc", false); }

void require_call(const Workers& workers, int from, int to) {
  workers.as(from, [&] {
    const std::string name = "worker" + std::to_string(to);
    require(rpc::rpc_sync<std::string>(name, "steps_same", "a") == "a", "a call by name works");
  });
}

TEST_CASE("a worker that joins a group is known to all its members, or an error says why not") {
  every_step_may_fail([](Attempt& attempt) {
    const Workers workers("inproc", 3);
    for (const int rank : {0, 1}) workers.as(rank, [&] { workers.join(rank); });
    bool has_joined = false;
    for (int i = 0; i < 2 && !has_joined; ++i) {
      has_joined = attempt.may_fail([&] { workers.as(2, [&] { workers.join(2); }); });
    }
    require(has_joined, "a second attempt succeeds");
    for (const int member : {0, 1}) {
      require_call(workers, member, 2);
      require_call(workers, 2, member);
    }
  });
}

TEST_CASE("a call to a worker that leaves ends at once, and it can come back, whichever step fails") {
  every_step_may_fail([](Attempt& attempt) {
    const Workers workers("inproc", 2);
    for (const int rank : {0, 1}) workers.as(rank, [&] { workers.join(rank); });
    const auto answer = workers.as(0, [] { return rpc::rpc_async<int>("worker1", "steps_block", 1); });
    require(eventually(10s, [] { return has_begun.load(); }), "the function runs");
    attempt.may_fail([&] { workers.as(1, [] { rpc::shutdown({.graceful = false}); }); });
    require(eventually(5s, [&] { return answer.done(); }), "the call ends long before its timeout");
    may_return = true;
    may_return.notify_all();
    workers.as(1, [&] { workers.join(1); });
    require_call(workers, 0, 1);
    require_call(workers, 1, 0);
  });
}

// Sessions are ended without grace, as a reference that was dropped without memory may keep its value until then.
void use_reference(const std::function<void(Attempt&)>& act) {
  every_step_may_fail([&](Attempt& attempt) {
    const Workers workers("inproc", 2);
    workers.init_all();
    workers.as(0, [] { rpc::rpc_sync<std::string>(1, "steps_same", "a"); });
    workers.as(0, [&] { act(attempt); });
    workers.as(0, [] {
      const auto again = rref::remote<std::string>(1, "steps_same", kValue);
      require(again.to_here() == kValue, "another reference has its value");
    });
    require_next_session(workers);
  });
}

TEST_CASE("a reference to a result is made and fetched, or an error says why not") {
  use_reference([](Attempt& attempt) {
    attempt.may_fail([] {
      const auto made = rref::remote<std::string>(1, "steps_same", kValue);
      require(made.to_here() == kValue, "the value");
    });
  });
}

// The request and the order to make the value come directly, since their order in a real call is a matter of luck.
TEST_CASE("a request for a value that came before the order to make it ends, if that order fails") {
  every_step_may_fail([&](Attempt& attempt) {
    const Workers workers("inproc", 2);
    workers.init_all();
    workers.as(1, [&] {
      const auto references = rref::current_references();
      const rref::OwnedSection order{{0, 5}, {0, 6}, kValue};
      const wire::Bytes bytes = wire::encode(order);
      const rpc::WorkerInfo maker = rpc::get_worker_info("worker0");
      const auto asked = references->find_value(order.rref)->future;
      const bool is_taken = attempt.may_fail([&] { references->begin_result(maker, bytes); });
      require(is_taken || asked.done(), "the request has ended with an error");
    });
    require_next_session(workers);
  });
}

TEST_CASE("a value that is shared is there for the worker that it is shared with") {
  use_reference([](Attempt& attempt) {
    const RRef<std::string> own(kValue);
    attempt.may_fail([&] { require(rpc::rpc_sync<std::string>(1, "steps_fetch", own) == kValue, "the value"); });
    require(own.local_value() == kValue, "the value is still there");
    const auto there = rref::remote<std::string>(1, "steps_same", kValue);
    require(there.to_here() == kValue, "a value elsewhere");
    attempt.may_fail([&] { require(rpc::rpc_sync<std::string>(1, "steps_fetch", there) == kValue, "the value"); });
    require(there.to_here() == kValue, "the value elsewhere is still there");
  });
}

}  // namespace
}  // namespace distrun
