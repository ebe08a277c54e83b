// Workers that are unknown, that leave, that are replaced, and those that do not keep up.
#include <catch2/catch.hpp>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "agent_contract.hpp"
#include "support/error_of.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;
using distrun::testing::error_of;

constexpr std::size_t kLarge = 1 << 20;

// Returns the number of descriptors, threads and shareable mappings of this process.
std::string what_is_open() {
  const auto count = [](const char* folder) { return std::to_string(distrun::testing::names_in(folder).size()); };
  const std::string maps = distrun::testing::read_file("/proc/self/maps");
  std::size_t shared = 0;
  for (std::size_t at = maps.find("rw-s"); at != std::string::npos; at = maps.find("rw-s", at + 1)) ++shared;
  return count("/proc/self/fd") + " descriptors, " + count("/proc/self/task") + " threads, " + std::to_string(shared) +
         " mappings";
}

void exchange_once(World& world) {
  for (const WorkerId from : {0, 1}) {
    Inbox& inbox = world[1 - from].inbox();
    const std::size_t before = inbox.count();
    world[from].send(1 - from, message_of(1, from == 0 ? 1000 : 100'000));
    REQUIRE(inbox.wait_messages(before + 1));
  }
}

}  // namespace

TEST_CASE("an unknown worker is refused") {
  World world(2);
  CHECK(error_of([&] { world[0].send(7, message_of(1, 10)); }).kind() == ErrorKind::InvalidArgument);
  CHECK(error_of([&] { world[0].send(-1, message_of(1, 10)); }).kind() == ErrorKind::InvalidArgument);
}

TEST_CASE("an invalid address is refused") {
  World world(1);
  for (const char* address : {"", ":", "inproc", "inproc:", "inproc:1", "inproc:x:y", "inproc:1:2:3", "pipe:", "\n"}) {
    INFO(address);
    const WorkerRecord record{WorkerInfo("worker1", 1), address};
    CHECK(error_of([&] { world[0].agent().add_worker(record); }).kind() == ErrorKind::InvalidArgument);
  }
}

TEST_CASE("the loss of a closed worker is reported once") {
  World world(3);
  exchange_once(world);
  world[1].close();
  const std::string why = why_gone(world[0], 1);
  CHECK(why != "");
  REQUIRE(world[0].inbox().wait_losses(1));
  CHECK(why_gone(world[0], 1) != "");
  world[0].send(2, message_of(1, 10));
  REQUIRE(world[2].inbox().wait_messages(1));
  CHECK(world[0].inbox().losses().size() == 1);
  CHECK_THAT(world[0].inbox().losses()[0], Catch::StartsWith("worker1: "));
}

TEST_CASE("a worker that was closed before anything was sent to it is still lost") {
  World world(2);
  world[1].close();
  CHECK(why_gone(world[0], 1) != "");
  CHECK(world[0].inbox().wait_losses(1));
}

TEST_CASE("a closed agent sends nothing, and may be closed again") {
  World world(2);
  exchange_once(world);
  world[0].close();
  world[0].close(0ns);
  CHECK(error_of([&] { world[0].send(1, message_of(1, 10)); }).kind() == ErrorKind::Disconnected);
  REQUIRE(world[1].inbox().wait_losses(1));
}

TEST_CASE("an agent that was not started may be closed") {
  const Worker worker(0, 2);
  CHECK(worker.agent().worker_info().name() == "worker0");
}

TEST_CASE("messages sent before close() are delivered, and then the loss is reported") {
  World world(2);
  constexpr std::size_t kCount = 200;
  const std::size_t size = GENERATE(std::size_t{10}, std::size_t{200'000});
  for (std::uint64_t id = 1; id <= kCount; ++id) world[0].send(1, message_of(id, size));
  world[0].close(20s);
  REQUIRE(world[1].inbox().wait_losses(1));
  const auto got = world[1].inbox().take();
  REQUIRE(got.size() == kCount);
  for (std::uint64_t id = 1; id <= kCount; ++id) CHECK(what_is_wrong(got[id - 1].message, id, size) == "");
}

TEST_CASE("close() returns though a peer does not read") {
  World world(2);
  world[1].inbox().hold();
  base::Thread sender("sender", [&world] {
    try {
      for (std::uint64_t id = 1; id <= 1000; ++id) world[0].send(1, message_of(id, kLarge));
    } catch (const Error&) {  // full or closed
    }
  });
  REQUIRE(world[1].inbox().wait_held());
  const auto begin = std::chrono::steady_clock::now();
  world[0].close(100ms);
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
  world[1].inbox().let_go();
}

TEST_CASE("no message is received while others send and close() has returned") {
  for (int round = 0; round < 20; ++round) {
    World world(3);
    std::vector<base::Thread> threads;
    for (const WorkerId from : {1, 2}) {
      threads.emplace_back("sender", [&world, from] { why_gone(world[from], 0); });
    }
    REQUIRE(world[0].inbox().wait_messages(50));
    world[0].close();  // the inbox reports messages from now on
  }
}

TEST_CASE("a worker that was removed may exit without being lost") {
  World world(2);
  exchange_once(world);
  world[0].agent().remove_worker(1);
  CHECK_THROWS_AS(world[0].send(1, message_of(1, 10)), Error);
  CHECK(world[0].agent().worker_infos().size() == 1);
  world[0].agent().remove_worker(1);
  world[0].agent().remove_worker(5);
  world[1].close();
  world.replace(1);
  exchange_once(world);
  CHECK(world[0].inbox().losses() == std::vector<std::string>());
}

TEST_CASE("another worker may take the place of one that was lost") {
  World world(2);
  for (int round = 1; round <= 5; ++round) {
    exchange_once(world);
    world[1].close();
    REQUIRE(world[0].inbox().wait_losses(static_cast<std::size_t>(round)));
    CHECK(why_gone(world[0], 1) != "");
    world.replace(1);
  }
}

TEST_CASE("two workers that connect to each other at the same moment have one connection") {
  for (int round = 0; round < 30; ++round) {
    World world(2);
    {
      base::Thread other("other", [&world] { world[1].send(0, message_of(1, 10)); });
      world[0].send(1, message_of(1, 10));
    }
    REQUIRE(world[0].inbox().wait_messages(1));
    REQUIRE(world[1].inbox().wait_messages(1));
    CHECK(world[0].inbox().losses().empty());
    CHECK(world[1].inbox().losses().empty());
  }
}

TEST_CASE("a worker that does not know the secret cannot connect") {
  Worker owner(0, 2);
  AgentSetting setting = setting_of(1, 2);
  setting.secret = "another";
  Worker stranger(setting);
  owner.agent().start(owner.inbox());
  stranger.agent().start(stranger.inbox());
  stranger.agent().add_worker(owner.record());
  CHECK(why_gone(stranger, 0) != "");
  CHECK(owner.inbox().count() == 0);
}

TEST_CASE("a receiver that is too slow blocks the sender, and loses no message") {
  World world(2);
  world[1].inbox().hold();
  base::Thread first("first", [&world] { world[0].send(1, message_of(1, kLarge)); });
  REQUIRE(world[1].inbox().wait_held());
  std::uint64_t taken = 1;
  std::optional<Error> refused;
  while (!refused && taken < 1000) {
    try {
      world[0].send(1, message_of(taken + 1, kLarge));
      ++taken;
    } catch (const Error& error) {
      refused = error;
    }
  }
  REQUIRE(refused);
  CHECK(refused->kind() == ErrorKind::Overloaded);
  CHECK_THAT(refused->text(), Catch::Contains("worker1"));
  CHECK(taken <= 300);
  Message control = message_of(0, 10);
  control.kind = MessageKind::Control;
  world[0].send(1, std::move(control));
  world[1].inbox().let_go();
  REQUIRE(world[1].inbox().wait_messages(taken + 1));
  std::uint64_t expected = 0;
  for (const Got& each : world[1].inbox().take()) {
    if (each.message.kind != MessageKind::Control) CHECK(what_is_wrong(each.message, ++expected, kLarge) == "");
  }
  CHECK(expected == taken);
  world[0].send(1, message_of(1, kLarge));
  CHECK(world[1].inbox().wait_messages(taken + 2));
}

TEST_CASE("a hundred rounds leave no descriptor open") {
  const auto round = [] {
    World world(2);
    exchange_once(world);
  };
  for (int i = 0; i < 3; ++i) round();
  const std::string before = what_is_open();
  for (int i = 0; i < 100; ++i) round();
  CHECK(what_is_open() == before);
}

}  // namespace distrun::rpc::testing
