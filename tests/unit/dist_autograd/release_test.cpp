// Releases of contexts, as another worker is told of them.
#include <catch2/catch.hpp>

#include <distrun/runtime/dist_autograd/protocol.hpp>

#include "../rpc/keeping_agent.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"

namespace distrun::dist_autograd {
namespace {

using namespace std::chrono_literals;
using distrun::testing::eventually;
using distrun::testing::scaled;

const Error kFull(ErrorKind::Overloaded, "the queue is full");

bool soon(const std::function<bool()>& question) { return eventually(scaled(20s), question); }

}  // namespace

TEST_CASE("a release that cannot be queued is tried again after pauses, until it is sent and answered") {
  rpc::KeptCalls kept;
  kept.agent->refuse(kFull);
  const base::TimePoint begin = base::system_clock().now();
  tell_released(*kept.calls, 1, 7);
  REQUIRE(soon([&] { return kept.agent->refused() >= 5; }));
  CHECK(base::system_clock().now() - begin >= 10ms + 20ms + 40ms + 80ms);
  CHECK(kept.calls->counts().waiting <= 1);
  kept.agent->refuse({});
  REQUIRE(soon([&] { return kept.agent->calls().size() == 1; }));
  kept.answer(kept.agent->calls().front(), 1, 0);
  CHECK(soon([&] { return kept.calls->counts().is_quiet(); }));
  CHECK(kept.agent->calls().size() == 1);
}

TEST_CASE("a release that is not answered is sent again") {
  rpc::KeptCalls kept;
  tell_released(*kept.calls, 1, 7);
  REQUIRE(kept.agent->calls().size() == 1);
  CHECK(soon([&] { return kept.agent->calls().size() == 2; }));
}

TEST_CASE("releases end with their worker, and with the session") {
  for (const bool is_worker_lost : {true, false}) {
    rpc::KeptCalls kept;
    kept.agent->refuse(kFull);
    tell_released(*kept.calls, 1, 7);
    if (is_worker_lost) kept.agent->refuse(Error(ErrorKind::Disconnected, "worker1 is gone"));
    if (!is_worker_lost) kept.calls->close(Error(ErrorKind::Disconnected, "the session is over"), 0s);
    CHECK(soon([&] { return kept.calls->counts().is_quiet(); }));
    const int refused = kept.agent->refused();
    kept.agent->refuse({});
    kept.calls->lose(WorkerInfo("worker1", 1), Error(ErrorKind::Disconnected, "gone"));
    CHECK(kept.agent->refused() == refused);
    CHECK(kept.agent->calls().empty());
  }
}

}  // namespace distrun::dist_autograd
