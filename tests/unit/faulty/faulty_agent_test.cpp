// Faults applied when a message is sent.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "fake_agent.hpp"
#include "support/error_of.hpp"

namespace distrun::agents::faulty::testing {
namespace {

using distrun::testing::error_of;
using rpc::MessageKind;

TEST_CASE("without a plan the faulty agent changes nothing") {
  World world("");
  for (std::uint64_t id = 1; id <= 3; ++id) world.send(id);
  CHECK(world.inner->ids() == "1 2 3");
  world.inner->receiver().receive(rpc::WorkerInfo("worker1", 1), world.inner->last().message);
  CHECK(world.heard.received() == "3");
  world.inner->receiver().lose(rpc::WorkerInfo("worker1", 1), Error(ErrorKind::Disconnected, "it has left"));
  CHECK(world.heard.losses() == std::vector<std::string>{"worker1: it has left"});
  CHECK(world.agent.worker_infos().size() == 3);
  CHECK(world.info("fake") == "1");
  CHECK(world.info("faulty.plan").empty());
  world.agent.close(base::Nanoseconds(0));
  CHECK(world.inner->is_closed());
}

TEST_CASE("a send fails as often as the plan says, and is counted") {
  World world("7:fail:fork_request:2");
  for (int i = 0; i < 2; ++i) {
    const Error error = error_of([&] { world.send(1, MessageKind::Reference); });
    CHECK(error.kind() == ErrorKind::Overloaded);
    CHECK(error.text() == "RPCErr:2:Send attempt failed intentionally for fork_request to worker1, message 1");
  }
  world.send(1, MessageKind::Reference);
  world.send(2);
  CHECK(world.inner->ids() == "1 2");
  CHECK(world.info("faulty.failed.fork_request") == "2");
  CHECK(world.info("faulty.seed") == "7");
  CHECK(world.info("faulty.plan") == "fail:fork_request:2");
}

TEST_CASE("a dropped message is not sent, and its sender is not notified") {
  World world("1:drop:reply:1");
  world.send(1);
  world.send(2, MessageKind::Control);
  CHECK(world.inner->ids() == "2");
  CHECK(world.info("faulty.dropped.reply") == "1");
  CHECK(world.info("faulty.dropped.control").empty());
}

// A plan may drop, delay or refuse the message that would withdraw the call from the inner agent.
TEST_CASE("with a plan, a call that may time out is sent with copies of its tensors") {
  const bool has_plan = GENERATE(false, true), has_deadline = GENERATE(false, true);
  World world(has_plan ? "1:drop:cancel:1" : "");
  const Tensor sent = tensor::arange(3);
  rpc::Message call;
  call.id = 1;
  call.tensors = {sent};
  if (has_deadline) call.kept_until = base::system_clock().now();
  world.agent.send(1, std::move(call), rpc::Urgency::Later);
  const bool is_copied = world.inner->last().message.tensors.front().data() != sent.data();
  CHECK(is_copied == (has_plan && has_deadline));
}

TEST_CASE("a doubled message is sent twice") {
  World world("1:dup:reply:1");
  world.send(1);
  CHECK(world.inner->ids() == "1 1");
  CHECK(world.info("faulty.duplicated.reply") == "1");
}

TEST_CASE("a corrupted reply reaches the caller, and is reported by the agent") {
  World world("1:corrupt:reply:1");
  world.send(1);
  CHECK(world.inner->last().message.payload.size() == 2);
  CHECK(world.inner->last().message.payload[0] == std::byte{1});
  CHECK(world.inner->last().message.payload[1] != std::byte{1});
  CHECK(world.info("faulty.corrupted.reply") == "1");
  CHECK_THAT(world.info("faulty.last_corruption"), Catch::StartsWith("reply to worker1, message 1: byte 1 of 2 is 0x"));
}

TEST_CASE("two runs with one seed have the same faults") {
  const auto run = [](const std::string& plan) {
    World world(plan);
    for (std::uint64_t id = 1; id <= 200; ++id) world.send(id);
    return world.inner->ids();
  };
  const std::string plan = "drop:reply:0.2,dup:reply:0.2,reorder:reply:0.2:3";
  CHECK(run("5:" + plan) == run("5:" + plan));
  CHECK(run("5:" + plan) != run("6:" + plan));
}

TEST_CASE("messages to oneself meet faults, and do not go through the inner agent") {
  CHECK_FALSE(World("").agent.carries_own());
  World world("1:dup:reply:1,drop:failure:1,fail:call:1,cut:0@1");
  CHECK(world.agent.carries_own());
  world.send(1, MessageKind::Reply, 0);
  world.send(2, MessageKind::Failure, 0);
  CHECK_THAT(error_of([&] { world.send(3, MessageKind::Call, 0); }).text(),
             Catch::Contains("failed intentionally for call to worker0, message 3"));
  world.send(3, MessageKind::Call, 0);
  CHECK(world.heard.received() == "1 1 3");
  CHECK(world.inner->ids().empty());
  CHECK(world.heard.losses().empty());
}

TEST_CASE("a lost worker gets no faults: the agent reports it") {
  World world("1:drop:any:1");
  world.inner->receiver().lose(rpc::WorkerInfo("worker1", 1), Error(ErrorKind::Disconnected, "it has left"));
  world.inner->refuse();
  CHECK(error_of([&] { world.send(1); }).kind() == ErrorKind::Disconnected);
  world.send(1, MessageKind::Reply, 2);
}

TEST_CASE("a closed agent drops nothing silently") {
  World world("1:drop:any:1");
  world.agent.close(base::Nanoseconds(0));
  world.inner->refuse();
  CHECK(error_of([&] { world.send(1); }).kind() == ErrorKind::Disconnected);
}

}  // namespace
}  // namespace distrun::agents::faulty::testing
