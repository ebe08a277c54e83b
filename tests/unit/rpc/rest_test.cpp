// Rests of the runtime's own work, which end with the thread of timeouts.
#include <catch2/catch.hpp>

#include <distrun/common/base/deadline.hpp>

#include "keeping_agent.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"

namespace distrun::rpc {

using namespace std::chrono_literals;

TEST_CASE("a pause ends after its time, and not before") {
  KeptCalls kept;
  const base::TimePoint begin = base::system_clock().now();
  kept.calls->sender().rest(WorkerKey(1), 20ms, true).wait(testing::scaled(20s));
  CHECK(base::system_clock().now() - begin >= 20ms);
  // The thread of timeouts may not have returned yet.
  CHECK(kept.calls->wait_quiet(base::deadline_after(testing::scaled(20s)), base::Location::here()));
}

TEST_CASE("a pause fails at once when its worker is lost, and when the session ends") {
  KeptCalls kept;
  const auto of_lost = kept.calls->sender().rest(WorkerKey(1), 1h, true),
             of_other = kept.calls->sender().rest(WorkerKey(2), 1h, true);
  CHECK(kept.calls->counts().waiting == 2);
  kept.calls->lose(WorkerInfo("worker1", 1), Error(ErrorKind::Disconnected, "gone"));
  CHECK(testing::error_of([&] { of_lost.wait(); }).kind() == ErrorKind::Disconnected);
  CHECK_FALSE(of_other.done());
  kept.calls->close(Error(ErrorKind::Disconnected, "over"), 0s);
  CHECK(testing::error_of([&] { of_other.wait(); }).kind() == ErrorKind::Disconnected);
  const auto late = kept.calls->sender().rest(WorkerKey(2), 1h, true);
  CHECK(testing::error_of([&] { late.wait(); }).kind() == ErrorKind::Disconnected);
}

TEST_CASE("a session with only pauses and calls that delay no shutdown is quiet") {
  KeptCalls kept;
  CallRequest request = KeptCalls::request("worker1", 60);
  request.holds_shutdown = false;
  const auto call = kept.calls->sender().call(std::move(request));
  const auto rest = kept.calls->sender().rest(WorkerKey(1), 1h, false);
  CHECK(kept.calls->counts().is_quiet());
  const auto awaited = kept.calls->sender().call(KeptCalls::request("worker1", 60));
  CHECK(kept.calls->counts().waiting == 1);
  kept.answer(kept.agent->calls().front(), 1, 7);
  CHECK(from_value<int>(call.wait()) == 7);
  CHECK(kept.calls->counts().waiting == 1);
  kept.answer(kept.agent->calls().back(), 1, 8);
  CHECK(from_value<int>(awaited.wait()) == 8);
  CHECK(kept.calls->counts().waiting == 0);
}

}  // namespace distrun::rpc
