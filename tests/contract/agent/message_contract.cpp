// Messages arrive once, complete and in order, and are received as the contract says.
#include <catch2/catch.hpp>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/rank_state.hpp>

#include "agent_contract.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

Message reply_to(const Message& call) {
  Message reply = message_of(call.id, call.payload.size());
  reply.kind = MessageKind::Reply;
  return reply;
}

// Checks that the messages from `from` begin with 1 and have no gap.
std::string what_is_out_of_order(const std::vector<Got>& got, WorkerId from, std::size_t payload_size) {
  std::uint64_t expected = 1;
  for (const Got& each : got) {
    if (each.from != from) continue;
    if (const std::string wrong = what_is_wrong(each.message, expected++, payload_size); !wrong.empty()) return wrong;
  }
  return "";
}

class IsCounted final : public future::Progress::Awaited {
 public:
  IsCounted(const Inbox& inbox, std::size_t count) : inbox_(inbox), count_(count) {}
  bool is_there() const noexcept override { return inbox_.count() >= count_; }

 private:
  const Inbox& inbox_;
  const std::size_t count_;
};

// Replies, with a kind that tells whether it runs for the right rank.
class RankTask final : public future::HandlerTask {
 public:
  RankTask(const Worker& worker, WorkerId to, std::uint64_t id)
      : agent_(worker.shared_agent()), rank_(worker.rank()), to_(to), id_(id) {}
  void run() noexcept override {
    Message message = message_of(id_, 10);
    message.kind = &core::rank_state() == &rank_ ? MessageKind::Reply : MessageKind::Failure;
    agent_->send(to_, std::move(message), Urgency::Later);
  }

 private:
  const std::shared_ptr<Agent> agent_;  // may be in send() a bit longer than the case needs it
  core::RankState& rank_;
  const WorkerId to_;
  const std::uint64_t id_;
};

}  // namespace

TEST_CASE("a message of any size arrives complete") {
  World world(2);
  const std::size_t sizes[] = {0, 1, 4 << 10, 70 << 10, 5 << 20};
  std::uint64_t id = 0;
  for (const std::size_t size : sizes) {
    INFO(size << " bytes");
    world[0].send(1, message_of(++id, size));
    REQUIRE(world[1].inbox().wait_messages(id));
    const auto got = world[1].inbox().take();
    REQUIRE(got.size() == 1);
    CHECK(got[0].from == 0);
    CHECK(what_is_wrong(got[0].message, id, size) == "");
  }
}

TEST_CASE("an empty message arrives, of any kind") {
  World world(2);
  for (int kind = 1; kind <= 5; ++kind) {
    Message message;
    message.kind = static_cast<MessageKind>(kind);
    message.id = ~std::uint64_t{0};
    world[0].send(1, std::move(message));
    REQUIRE(world[1].inbox().wait_messages(static_cast<std::size_t>(kind)));
    const auto got = world[1].inbox().take();
    REQUIRE(got.size() == 1);
    CHECK(got[0].message.kind == static_cast<MessageKind>(kind));
    CHECK(got[0].message.id == ~std::uint64_t{0});
    CHECK_FALSE(got[0].message.left);
    CHECK(got[0].message.sections.empty());
    CHECK(got[0].message.payload.empty());
    CHECK(got[0].message.tensors.empty());
  }
}

TEST_CASE("both directions at once keep their order") {
  World world(2);
  const std::size_t size = GENERATE(std::size_t{10}, std::size_t{9000});
  constexpr std::uint64_t kCount = 1000;
  {
    std::vector<base::Thread> threads;
    for (WorkerId from = 0; from < 2; ++from) {
      threads.emplace_back("sender", [&world, from, size] {
        for (std::uint64_t id = 1; id <= kCount; ++id) world[from].send(1 - from, message_of(id, size));
      });
    }
  }
  for (WorkerId to = 0; to < 2; ++to) {
    REQUIRE(world[to].inbox().wait_messages(kCount));
    const auto got = world[to].inbox().take();
    CHECK(got.size() == kCount);
    CHECK(what_is_out_of_order(got, 1 - to, size) == "");
  }
}

TEST_CASE("messages of two threads of one sender keep their order") {
  World world(2);
  constexpr std::uint64_t kCount = 500, kThreads = 2;
  {
    std::vector<base::Thread> threads;
    for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back("sender", [&world, thread] {
        for (std::uint64_t i = 0; i < kCount; ++i) world[0].send(1, message_of(thread << 32 | i, i % 7 * 1000));
      });
    }
  }
  REQUIRE(world[1].inbox().wait_messages(kCount * kThreads));
  std::uint64_t next[kThreads] = {};
  for (const Got& each : world[1].inbox().take()) {
    const std::uint64_t thread = each.message.id >> 32;
    REQUIRE(thread < kThreads);
    const std::uint64_t number = next[thread]++;
    CHECK(what_is_wrong(each.message, thread << 32 | number, number % 7 * 1000) == "");
  }
}

TEST_CASE("a thousand messages are answered while they are received") {
  World world(2);
  world[1].inbox().answer([&world](const WorkerInfo& from, Message& message) {
    world[1].send(from.id(), reply_to(message));
    return nullptr;
  });
  constexpr std::uint64_t kCount = 1000;
  for (std::uint64_t id = 1; id <= kCount; ++id) world[0].send(1, message_of(id, 100));
  REQUIRE(world[0].inbox().wait_messages(kCount));
  std::uint64_t expected = 0;
  for (const Got& each : world[0].inbox().take()) CHECK(each.message.id == ++expected);
  REQUIRE(world[1].inbox().wait_messages(kCount));
  CHECK(world[1].inbox().count() == kCount);
}

TEST_CASE("a message that each receiver sends on goes round many times") {
  constexpr int kWorkers = 4;
  constexpr std::uint64_t kHops = 2000;
  World world(kWorkers);
  for (int id = 0; id < kWorkers; ++id) {
    world[id].inbox().answer([&world, id](const WorkerInfo&, Message& message) {
      if (message.id > 0) world[id].send((id + 1) % kWorkers, message_of(message.id - 1, 10));
      return nullptr;
    });
  }
  world[0].send(1, message_of(kHops - 1, 10));
  for (int id = 0; id < kWorkers; ++id) CHECK(world[id].inbox().wait_messages(kHops / kWorkers));
}

TEST_CASE("the task of a message runs for the rank that received it") {
  World world(2);
  world[1].inbox().answer([&world](const WorkerInfo& from, Message& message) {
    return std::make_unique<RankTask>(world[1], from.id(), message.id);
  });
  for (std::uint64_t id = 1; id <= 100; ++id) world[0].send(1, message_of(id, 10));
  REQUIRE(world[0].inbox().wait_messages(100));
  for (const Got& each : world[0].inbox().take()) CHECK(each.message.kind == MessageKind::Reply);
}

TEST_CASE("all workers send to all") {
  constexpr int kWorkers = 4;
  constexpr std::uint64_t kCount = 200;
  World world(kWorkers);
  {
    std::vector<base::Thread> threads;
    for (WorkerId from = 0; from < kWorkers; ++from) {
      threads.emplace_back("sender", [&world, from] {
        for (std::uint64_t id = 1; id <= kCount; ++id) {
          for (WorkerId to = 0; to < kWorkers; ++to) {
            if (to != from) world[from].send(to, message_of(id, 500));
          }
        }
      });
    }
  }
  for (WorkerId to = 0; to < kWorkers; ++to) {
    REQUIRE(world[to].inbox().wait_messages(kCount * (kWorkers - 1)));
    const auto got = world[to].inbox().take();
    CHECK(got.size() == kCount * (kWorkers - 1));
    for (WorkerId from = 0; from < kWorkers; ++from) CHECK(what_is_out_of_order(got, from, 500) == "");
  }
}

TEST_CASE("a thread that waits for an answer may help to receive it") {
  World world(2);
  world[1].inbox().answer([&world](const WorkerInfo& from, Message& message) {
    world[1].send(from.id(), reply_to(message));
    return nullptr;
  });
  const auto progress = world[0].agent().progress();
  for (std::uint64_t id = 1; id <= 500; ++id) {
    world[0].agent().send(1, message_of(id, 10), Urgency::Answer);
    if (progress != nullptr) {
      progress->help(IsCounted(world[0].inbox(), id), base::system_clock().now() + 30s);
    }
    REQUIRE(world[0].inbox().wait_messages(id));
  }
}

TEST_CASE("an agent has information about itself and the others, and how it reaches them") {
  World world(3);
  world[0].send(1, message_of(1, 10));
  REQUIRE(world[1].inbox().wait_messages(1));
  const auto infos = world[0].agent().worker_infos();
  REQUIRE(infos.size() == 3);
  for (WorkerId id = 0; id < 3; ++id) CHECK(infos[static_cast<std::size_t>(id)] == setting_of(id, 3).worker);
  CHECK(world[2].agent().worker_info() == infos[2]);
  bool is_told = false;
  for (const auto& [key, value] : world[0].agent().debug_info()) is_told |= key.find("worker1") != std::string::npos;
  CHECK(is_told);
}

}  // namespace distrun::rpc::testing
