// Answers that arrive after the deadline of their call.
#include <catch2/catch.hpp>

#include "keeping_agent.hpp"
#include "support/error_of.hpp"

namespace distrun::rpc {

using namespace std::chrono_literals;

TEST_CASE("an answer that comes after its call's deadline is a timeout, whatever the thread of timeouts is doing") {
  KeptCalls kept;
  kept.agent->hold_cancel();
  const auto first = kept.calls->call(KeptCalls::request("worker1", 0.001));
  kept.agent->wait_held();
  const auto late = kept.calls->call(KeptCalls::request("worker1", 0.001));
  const base::TimePoint over = base::system_clock().now() + 1ms;
  const auto in_time = kept.calls->call(KeptCalls::request("worker1", 60));
  while (base::system_clock().now() <= over) {
  }
  const std::vector<std::uint64_t> sent = kept.agent->calls();
  REQUIRE(sent.size() == 3);
  kept.answer(sent[1], 1, 7);
  kept.answer(sent[2], 1, 8);
  kept.agent->let_go();
  CHECK(testing::error_of([&] { first.wait(); }).kind() == ErrorKind::Timeout);
  CHECK_THAT(testing::error_of([&] { late.wait(); }).text(), Catch::Contains("ran for more than set timeout (1 ms)"));
  CHECK(from_value<std::int64_t>(in_time.wait()) == 8);
}

}  // namespace distrun::rpc
