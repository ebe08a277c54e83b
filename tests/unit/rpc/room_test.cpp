// Calls that wait for room, and calls that cannot be sent.
#include <catch2/catch.hpp>

#include <atomic>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

#include "keeping_agent.hpp"
#include "support/error_of.hpp"
#include "unit/future/handlers.hpp"

namespace distrun::rpc {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// The tensor is never written, so it takes no memory. All calls share it.
Tensor mebibytes(std::int64_t count) {
  static const Tensor large = tensor::empty({600 * kMiB}, {tensor::DType::U8, {}});
  return large.narrow(0, 0, count * kMiB);
}

// Makes a call on a separate thread, and detects whether it waits.
class Caller final : public core::WaitObserver {
 public:
  Caller(KeptCalls& kept, double seconds, std::int64_t size, const char* worker = "worker1") {
    thread_.emplace("caller", [this, &kept, seconds, size, worker] {
      core::wait_observer() = this;
      try {
        kept.calls->sender().call(KeptCalls::request(worker, seconds, mebibytes(size)));
      } catch (const Error& error) {
        error_ = error;
      }
      core::wait_observer() = nullptr;
    });
  }
  void begin_wait() noexcept override { is_waiting_ = true; }
  void end_wait() noexcept override {}

  bool waits() const {
    return testing::soon([this] { return is_waiting_.load(); });
  }
  std::optional<Error> end() {
    thread_->join();
    return error_;
  }

 private:
  std::atomic<bool> is_waiting_{false};
  std::optional<Error> error_;
  std::optional<base::Thread> thread_;
};

void fill(KeptCalls& kept) {
  for (int i = 0; i < 3; ++i) kept.calls->sender().call(KeptCalls::request("worker1", 60, mebibytes(80)));
  REQUIRE(kept.agent->calls().size() == 3);
}

}  // namespace

TEST_CASE("a call beyond its worker's limit waits until another one is answered") {
  KeptCalls kept;
  fill(kept);
  Caller caller(kept, 60, 80);
  REQUIRE(caller.waits());
  CHECK(kept.agent->calls().size() == 3);
  kept.calls->sender().call(KeptCalls::request("worker2", 60, mebibytes(200)));
  kept.answer(kept.agent->calls()[1], 1, 0);
  CHECK_FALSE(caller.end());
  CHECK(kept.agent->calls().size() == 5);
}

TEST_CASE("calls to several workers that do not answer share one budget, and wait for any answer") {
  KeptCalls kept;
  kept.calls->sender().completions().pending().set_budget(250 * kMiB);
  const auto call = [&](const char* worker, std::int64_t size, double seconds = 60) {
    kept.calls->sender().call(KeptCalls::request(worker, seconds, mebibytes(size)));
  };
  for (const char* worker : {"worker1", "worker2", "worker3"}) call(worker, 80);
  const Error error = testing::error_of([&] { call("worker3", 80, 0.01); });
  CHECK(error.kind() == ErrorKind::Overloaded);
  CHECK_THAT(error.text(), Catch::Contains("call \"kept_call\" of worker3 was not sent: calls of "));
  CHECK_THAT(error.text(),
             Catch::Contains("bytes wait for answers of worker1, worker2, worker3, at most 262144000 may"));
  CHECK_THAT(error.text(), Catch::Contains("within its timeout (10 ms)"));
  Caller caller(kept, 60, 80, "worker3");
  REQUIRE(caller.waits());
  CHECK(kept.agent->calls().size() == 3);
  kept.answer(kept.agent->calls()[0], 1, 0);
  CHECK_FALSE(caller.end());
  CHECK(kept.agent->calls().size() == 4);
  SECTION("a function that runs for another worker has twice the budget") {
    core::ThreadState own = core::thread_state();
    own.call = std::make_shared<CallContext>(WorkerInfo("worker2", 2), 1, "outer", core::kForever);
    const core::ThreadStateGuard guard(std::move(own));
    for (const char* worker : {"worker1", "worker2", "worker3"}) call(worker, 80);
    CHECK(testing::error_of([&] { call("worker1", 80, 0.01); }).kind() == ErrorKind::Overloaded);
  }
  SECTION("a worker that answers gets small calls, whatever the others owe") {
    for (int i = 0; i < 5; ++i) call("worker1", 3);
    CHECK(testing::error_of([&] { call("worker1", 3, 0.01); }).kind() == ErrorKind::Overloaded);
  }
}

TEST_CASE("a call that cannot be sent within its timeout is not sent") {
  KeptCalls kept;
  fill(kept);
  const Error error =
      testing::error_of([&] { kept.calls->sender().call(KeptCalls::request("worker1", 0.01, mebibytes(80))); });
  CHECK(error.kind() == ErrorKind::Overloaded);
  CHECK_THAT(error.text(), Catch::Contains("call \"kept_call\" of worker1 was not sent"));
  CHECK_THAT(error.text(), Catch::Contains("within its timeout (10 ms)"));
  CHECK(kept.agent->calls().size() == 3);
  CHECK(kept.calls->counts().waiting == 3);
}

TEST_CASE("internal calls of the runtime do not wait") {
  KeptCalls kept;
  fill(kept);
  kept.agent->set_room(false);
  CallRequest request = KeptCalls::request("worker1", 60, mebibytes(80));
  request.waits_for_room = false;
  kept.calls->sender().call(std::move(request));
  CHECK(kept.agent->calls().size() == 4);
}

TEST_CASE("a call of any size is sent when its worker owes no answer") {
  KeptCalls kept;
  kept.calls->sender().call(KeptCalls::request("worker1", 60, mebibytes(600)));
  CHECK(kept.agent->calls().size() == 1);
}

TEST_CASE("a function that runs for another worker may have more calls in flight than others") {
  KeptCalls kept;
  fill(kept);
  core::ThreadState own = core::thread_state();
  own.call = std::make_shared<CallContext>(WorkerInfo("worker2", 2), 1, "outer", core::kForever);
  const core::ThreadStateGuard guard(std::move(own));
  for (int i = 0; i < 9; ++i) kept.calls->sender().call(KeptCalls::request("worker1", 60, mebibytes(80)));
  CHECK(kept.agent->calls().size() == 12);
  const auto one_more = [&] { kept.calls->sender().call(KeptCalls::request("worker1", 0.01, mebibytes(80))); };
  CHECK(testing::error_of(one_more).kind() == ErrorKind::Overloaded);
}

TEST_CASE("a call waits for the agent once much is in flight") {
  KeptCalls kept;
  kept.agent->set_room(false);
  kept.calls->sender().call(KeptCalls::request("worker1", 60, mebibytes(80)));
  Caller caller(kept, 60, 1);
  REQUIRE(caller.waits());
  CHECK(kept.agent->calls().size() == 1);
  kept.agent->set_room(true);
  CHECK_FALSE(caller.end());
  CHECK(kept.agent->calls().size() == 2);
  kept.agent->set_room(false);
  const auto one_more = [&] { kept.calls->sender().call(KeptCalls::request("worker1", 0.01, mebibytes(1))); };
  CHECK(testing::error_of(one_more).kind() == ErrorKind::Overloaded);
  CHECK(kept.calls->counts().waiting == 2);
}

TEST_CASE("a call that waits to be sent ends when its worker is lost") {
  KeptCalls kept;
  fill(kept);
  Caller caller(kept, 60, 80);
  REQUIRE(caller.waits());
  const Error why(ErrorKind::Disconnected, "worker1 is gone");
  kept.agent->refuse(why);
  kept.calls->lose(WorkerInfo("worker1", 1), why);
  const std::optional<Error> error = caller.end();
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::Disconnected);
}

TEST_CASE("a call that cannot be sent is an error of its future, and leaves nothing behind") {
  KeptCalls kept;
  const ErrorKind kind = GENERATE(ErrorKind::Disconnected, ErrorKind::Overloaded);
  kept.agent->refuse(Error(kind, "no way to worker1"));
  const auto call = [&] {
    return kept.calls->sender().call_or_fail(KeptCalls::request("worker1", 60), kResultOf<Value>);
  };
  CHECK(testing::error_of([&] { future::Future<Value>::of(call()).wait(); }).kind() == kind);
  CHECK(kept.calls->counts().waiting == 0);
  CHECK(kept.calls->counts().sent == 0);
  CHECK_THROWS_AS(kept.calls->sender().call(KeptCalls::request("worker1", 60)), Error);
  CHECK_THROWS_AS(kept.calls->sender().call_or_fail(KeptCalls::request("worker9", 60), kResultOf<Value>), Error);
}

}  // namespace distrun::rpc
