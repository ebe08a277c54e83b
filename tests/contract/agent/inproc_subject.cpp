#include <catch2/catch.hpp>

#include <unistd.h>

#include <agents/inproc/inproc_agent.hpp>
#include <distrun/runtime/core/rank_state.hpp>

#include "agent_contract.hpp"
#include "support/error_of.hpp"

namespace distrun::rpc {

std::shared_ptr<Agent> make_agent(const AgentSetting& setting) {
  return std::make_shared<agents::inproc::InprocAgent>(setting);
}

namespace testing {

TEST_CASE("a worker of another process is refused, with advice") {
  World world(1);
  const WorkerRecord record{WorkerInfo("worker1", 1), "inproc:" + std::to_string(::getppid()) + ":1"};
  const Error error = distrun::testing::error_of([&] { world[0].agent().add_worker(record); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK_THAT(error.text(), Catch::Contains("threads of one process") && Catch::Contains("--isolation threads"));
}

TEST_CASE("the sender's thread receives on behalf of the rank that it sends to") {
  World world(2);
  bool is_receiver = false;
  world[1].inbox().answer([&](const WorkerInfo&, Message&) {
    is_receiver = &core::rank_state() == &world[1].rank();
    return nullptr;
  });
  world[0].send(1, message_of(1, 10));
  REQUIRE(world[1].inbox().wait_messages(1));
  CHECK(is_receiver);
}

}  // namespace testing
}  // namespace distrun::rpc
