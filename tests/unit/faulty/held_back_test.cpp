// Messages sent later: after a time, or after other messages.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "fake_agent.hpp"
#include "support/error_of.hpp"

namespace distrun::agents::faulty::testing {
namespace {

using namespace std::chrono_literals;
using rpc::MessageKind;

TEST_CASE("a delayed message is sent later, does not block its sender, and is overtaken") {
  World world("1:delay:reply:0.05");
  const auto begin = std::chrono::steady_clock::now();
  world.send(1);
  world.send(2, MessageKind::Failure);
  CHECK(world.inner->ids(2) == "2 1");
  CHECK(std::chrono::steady_clock::now() - begin >= 50ms);
  CHECK(world.info("faulty.delayed.reply") == "1");
}

TEST_CASE("a message delayed in order is not overtaken by others to that worker") {
  World world("1:delay:reply:0.05:ordered");
  world.send(1);
  world.send(2, MessageKind::Failure);
  world.send(3);
  world.send(4, MessageKind::Control);
  world.send(5, MessageKind::Control, 2);
  CHECK(world.inner->ids(5) == "5 1 2 3 4");
  world.send(6, MessageKind::Control);
  CHECK(world.inner->ids(6) == "5 1 2 3 4 6");
}

TEST_CASE("a reordered message is sent after the next ones to that worker") {
  World world("1:reorder:failure:1:2");
  world.send(1, MessageKind::Failure);
  world.send(2, MessageKind::Reply, 2);
  world.send(3);
  CHECK(world.inner->ids() == "2 3");
  world.send(4);
  CHECK(world.inner->ids() == "2 3 4 1");
  CHECK(world.info("faulty.reordered.failure") == "1");
}

TEST_CASE("a reordered message without a successor still arrives") {
  World world("1:reorder:failure:1:2");
  world.send(1, MessageKind::Failure);
  CHECK(world.inner->ids(1) == "1");
}

TEST_CASE("a doubled and reordered message arrives in time, and again later") {
  World world("1:dup:failure:1,reorder:failure:1:1");
  world.send(1, MessageKind::Failure);
  CHECK(world.inner->ids() == "1");
  world.send(2);
  CHECK(world.inner->ids() == "1 2 1");
}

TEST_CASE("held-back messages are sent when the agent is closed, if there is time") {
  World world("1:delay:reply:1000");
  world.send(1);
  world.send(2);
  CHECK(world.inner->ids() == "");
  SECTION("there is time") {
    world.agent.close(1s);
    CHECK(world.inner->ids() == "1 2");
  }
  SECTION("there is no time") {
    world.agent.close(0s);
    CHECK(world.inner->ids() == "");
  }
}

TEST_CASE("held-back messages to a worker that leaves are dropped") {
  World world("1:delay:reply:1000");
  world.send(1);
  world.send(2, MessageKind::Reply, 2);
  SECTION("it is removed") { world.agent.remove_worker(1); }
  SECTION("it is lost") {
    world.inner->receiver().lose(rpc::WorkerInfo("worker1", 1), Error(ErrorKind::Disconnected, "it has left"));
  }
  world.agent.close(1s);
  CHECK(world.inner->ids() == "2");
}

TEST_CASE("tensors of held-back messages are those that were sent") {
  World world("1:delay:reply:1000");
  rpc::Message message;
  message.kind = MessageKind::Reply;
  message.tensors = {tensor::full({}, 7, {DType::I64})};
  Tensor own = message.tensors[0];
  world.agent.send(1, std::move(message), rpc::Urgency::Later);
  tensor::fill_(own, 8);
  world.agent.close(1s);
  CHECK(world.inner->last().message.tensors.at(0).item_as<std::int64_t>() == 7);
}

TEST_CASE("a message that no agent could carry is not held back, but refused") {
  World world("1:delay:reply:1000");
  rpc::Message message;
  message.kind = MessageKind::Reply;
  message.tensors = {Tensor()};
  const auto send = [&] { world.agent.send(1, std::move(message), rpc::Urgency::Later); };
  CHECK(distrun::testing::error_of(send).kind() == ErrorKind::InvalidArgument);
  world.agent.close(1s);
  CHECK(world.inner->ids() == "");
}

TEST_CASE("beyond the limit of held-back messages calls are refused, and answers are sent at once") {
  World world("1:delay:any:1000");
  for (std::uint64_t id = 1; id <= Held::kMessagesMax; ++id) world.send(id, MessageKind::Call);
  const Error error = distrun::testing::error_of([&] { world.send(0, MessageKind::Call); });
  CHECK(error.kind() == ErrorKind::Overloaded);
  CHECK_THAT(error.text(), Catch::Contains("too many messages are held back for worker1"));
  world.send(77);
  CHECK(world.inner->ids() == "77");
  CHECK(world.info("faulty.sent_at_once.reply") == "1");
}

TEST_CASE("held-back messages that can no longer be sent are counted") {
  World world("1:delay:reply:1000");
  world.send(1);
  world.inner->refuse();
  world.agent.close(1s);
  CHECK(world.info("faulty.lost_later.reply") == "1");
}

}  // namespace
}  // namespace distrun::agents::faulty::testing
