// Workers that are processes: some die or stop, and the others make progress.
#include <catch2/catch.hpp>

#include <csignal>

#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "child_worker.hpp"
#include "support/sandbox.hpp"
#include "support/skip.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLarge = 1 << 20;

void start(Worker& parent) { parent.agent().start(parent.inbox()); }

// Checks that the child echoes a message.
void exchange_once(Worker& parent, WorkerId child, std::uint64_t id = 1) {
  const std::size_t before = parent.inbox().count();
  parent.send(child, message_of(id, 100));
  REQUIRE(parent.inbox().wait_messages(before + 1));
}

// Sends until the agent refuses; returns the number of messages sent.
std::uint64_t send_until_refused(Worker& from, WorkerId to) {
  for (std::uint64_t sent = 0; sent < 1000; ++sent) {
    try {
      from.send(to, message_of(sent + 1, kLarge));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Overloaded);
      return sent;
    }
  }
  FAIL("it is never too much");
  return 0;
}

}  // namespace

TEST_CASE("messages and tensors are sent to another process and back") {
  ChildWorker child(1);
  Worker parent(0, 0);
  start(parent);
  child.meet(parent);
  const Tensor matrix = tensor::view(tensor::to(tensor::arange(1'000'000), DType::F32), {1000, 1000});
  const TensorList sent = {tensor::transpose(matrix, 0, 1), tensor::full({3}, 7, {DType::I64}), tensor::empty({0, 5})};
  constexpr std::uint64_t kCount = 20;
  for (std::uint64_t id = 1; id <= kCount; ++id) parent.send(1, message_of(id, id * 10'000, sent));
  REQUIRE(parent.inbox().wait_messages(kCount));
  std::uint64_t id = 0;
  for (Got& each : parent.inbox().take()) {
    CHECK(each.message.kind == MessageKind::Reply);
    each.message.kind = MessageKind::Call;
    ++id;
    CHECK(what_is_wrong(each.message, id, id * 10'000) == "");
    REQUIRE(each.message.tensors.size() == sent.size());
    for (std::size_t k = 0; k < sent.size(); ++k) CHECK(tensor::is_close(each.message.tensors[k], sent[k]));
  }
}

TEST_CASE("a worker that died before any contact is lost once it is watched, and a living one is not") {
  ChildWorker child(1), other(2);
  Worker parent(0, 0);
  start(parent);
  child.meet(parent);
  other.meet(parent);
  child.signal(SIGKILL);
  parent.agent().look_after(1);
  parent.agent().look_after(2);
  REQUIRE(parent.inbox().wait_losses(1));
  exchange_once(parent, 2);
  CHECK(parent.inbox().losses().size() == 1);
}

TEST_CASE("a worker is lost within a second when its process is killed") {
  ChildWorker child(1), other(2);
  Worker parent(0, 0);
  start(parent);
  child.meet(parent);
  other.meet(parent);
  exchange_once(parent, 1);
  exchange_once(parent, 2);
  const bool is_busy = GENERATE(false, true);
  if (is_busy) {
    for (std::uint64_t id = 1; id <= 20; ++id) parent.send(1, message_of(id, kLarge));
  }
  const auto killed = std::chrono::steady_clock::now();
  child.signal(SIGKILL);
  REQUIRE(parent.inbox().wait_losses(1));
  CHECK(std::chrono::steady_clock::now() - killed < distrun::testing::at_latest(1000ms));
  CHECK_THAT(parent.inbox().losses()[0], Catch::StartsWith("worker1: "));
  CHECK(why_gone(parent, 1) != "");
  exchange_once(parent, 2);
  CHECK(parent.inbox().losses().size() == 1);
}

TEST_CASE("another process may take the place of one that was killed") {
  ChildWorker child(1), next(1);
  Worker parent(0, 0);
  start(parent);
  child.meet(parent);
  exchange_once(parent, 1);
  child.signal(SIGKILL);
  REQUIRE(parent.inbox().wait_losses(1));
  parent.inbox().forget(1);
  next.meet(parent);
  exchange_once(parent, 1);
}

TEST_CASE("a worker with a stopped process delays no other, and continues where it was") {
  ChildWorker stopped(1), other(2);
  Worker parent(0, 0);
  start(parent);
  stopped.meet(parent);
  other.meet(parent);
  exchange_once(parent, 1);
  stopped.signal(SIGSTOP);
  const std::uint64_t taken = send_until_refused(parent, 1);
  CHECK(taken <= 300);
  for (std::uint64_t id = 1; id <= 100; ++id) exchange_once(parent, 2, id);
  CHECK(parent.inbox().losses().empty());
  stopped.signal(SIGCONT);
  CHECK(parent.inbox().wait_messages(101 + taken));
}

TEST_CASE("close() takes no longer than its timeout though a peer is stopped") {
  ChildWorker stopped(1);
  Worker parent(0, 0);
  start(parent);
  stopped.meet(parent);
  exchange_once(parent, 1);
  stopped.signal(SIGSTOP);
  send_until_refused(parent, 1);
  const auto begin = std::chrono::steady_clock::now();
  parent.close(200ms);
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

// The tensor's memory is kept for a peer that reads it directly, until the timeout; after that the peer gets no value.
TEST_CASE("close() waits for peers that have yet to read memory directly") {
  ChildWorker stopped(1);
  Worker parent(0, 0);
  start(parent);
  stopped.meet(parent);
  exchange_once(parent, 1);
  const std::string channels = parent.agent().debug_info().at("pipe.worker1.channels");
  distrun::testing::skip_case_if(channels.find("cma") == std::string::npos, "there is no channel cma here");
  stopped.signal(SIGSTOP);
  parent.send(1, message_of(2, 10, {tensor::full({4 << 20}, 7, {DType::I32})}));
  const auto begin = std::chrono::steady_clock::now();
  SECTION("until its timeout") {
    parent.close(200ms);
    CHECK(std::chrono::steady_clock::now() - begin >= 200ms);
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
    stopped.signal(SIGCONT);
  }
  SECTION("until they have read it") {
    stopped.signal(SIGCONT);
    parent.close(30s);
    CHECK(std::chrono::steady_clock::now() - begin < 20s);
  }
}

TEST_CASE("a worker that was stopped before it got a message delays no other") {
  ChildWorker stopped(1), other(2);
  Worker parent(0, 0);
  start(parent);
  stopped.meet(parent);
  other.meet(parent);
  stopped.signal(SIGSTOP);
  parent.send(1, message_of(1, 100));
  exchange_once(parent, 2);
  stopped.signal(SIGCONT);
  CHECK(parent.inbox().wait_messages(2));
}

}  // namespace distrun::rpc::testing
