// Connections that are cut: both ends report a loss, once.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

#include "fake_agent.hpp"
#include "support/error_of.hpp"

namespace distrun::agents::faulty::testing {
namespace {

using distrun::testing::error_of;
using rpc::MessageKind;

const std::string kLoss = "worker1: worker1 is gone: the connection was cut, as the fault plan requires";

TEST_CASE("the connection is cut with the message of the plan, and both ends are notified") {
  World world("1:cut:1@3");
  world.send(1);
  world.send(2, MessageKind::Reply, 2);
  world.send(3);
  const Error error = error_of([&] { world.send(4); });
  CHECK(error.kind() == ErrorKind::Disconnected);
  CHECK(error.text() == "worker1 is gone: the connection was cut, as the fault plan requires");
  CHECK(world.heard.losses(1) == std::vector<std::string>{kLoss});
  CHECK(world.inner->wait_removed(1));
  CHECK(error_of([&] { world.send(5); }).kind() == ErrorKind::Disconnected);
  world.send(6, MessageKind::Reply, 2);
  CHECK(world.agent.worker_infos().size() == 3);
  CHECK(world.info("faulty.cut.worker1") == "1");

  World other("");
  const Sent notice = [&] {
    World again("1:cut:1@1");
    CHECK_THROWS_AS(again.send(1), Error);
    again.heard.losses(1);
    return again.inner->last();
  }();
  CHECK(notice.to == 1);
  CHECK(notice.message.kind == MessageKind::Cancel);
  other.inner->receiver().receive(rpc::WorkerInfo("worker1", 1), notice.message);
  CHECK(other.heard.losses() == std::vector<std::string>{kLoss});
  CHECK(other.heard.received().empty());
  CHECK(error_of([&] { other.send(1); }).kind() == ErrorKind::Disconnected);
}

TEST_CASE("after a cut nothing is received, and the agent's own loss is not reported twice") {
  World world("1:cut:1@1");
  CHECK_THROWS_AS(world.send(1), Error);
  world.heard.losses(1);
  rpc::Message message;
  message.id = 5;
  world.inner->receiver().receive(rpc::WorkerInfo("worker1", 1), message);
  world.inner->receiver().lose(rpc::WorkerInfo("worker1", 1), Error(ErrorKind::Disconnected, "it has left"));
  CHECK(world.heard.received().empty());
  CHECK(world.heard.losses().size() == 1);
}

TEST_CASE("a worker that is cut off stays cut off until another takes its place") {
  World world("1:cut:1@1");
  CHECK_THROWS_AS(world.send(1), Error);
  world.heard.losses(1);
  CHECK(world.inner->wait_removed(1));
  world.agent.add_worker(World::record_of(1));
  CHECK_THROWS_AS(world.send(2), Error);
  world.agent.add_worker(World::record_of(1, "elsewhere"));
  world.send(3);
  CHECK(world.inner->last().message.id == 3);
}

TEST_CASE("a worker that is removed while it is cut off is not lost") {
  World world("1:cut:1@1");
  world.agent.remove_worker(1);
  world.send(1);
  world.agent.close(base::Nanoseconds(0));
  CHECK(world.heard.losses().empty());
}

}  // namespace
}  // namespace distrun::agents::faulty::testing
