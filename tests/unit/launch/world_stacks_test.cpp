#include <catch2/catch.hpp>

#include <optional>

#include "launched.hpp"

using namespace distrun;
using namespace distrun::launch;

namespace {

std::uint64_t cpu_time(const evidence::Stacks& stacks) {
  REQUIRE(stacks.processes.size() == 1);
  REQUIRE_FALSE(stacks.processes.front().threads.empty());
  return stacks.processes.front().threads.front().task.cpu_ns;
}

}  // namespace

TEST_CASE("requests share a collection, and one that lets threads settle gets their later CPU times") {
  Machine machine;
  machine.prepare();
  const auto ranks = machine.spawn("computes", 1);
  REQUIRE(machine.until([&] { return ranks->all("phase"); }));
  std::optional<evidence::Stacks> at_once;
  std::optional<evidence::Stacks> settled;
  StackOrder order;
  order.bound = std::chrono::milliseconds(200);
  ranks->world->collect_stacks(order, [&](evidence::Stacks stacks) { at_once = std::move(stacks); });
  order.settle = std::chrono::milliseconds(50);
  ranks->world->collect_stacks(order, [&](evidence::Stacks stacks) { settled = std::move(stacks); });
  REQUIRE(machine.until([&] { return at_once.has_value(); }));
  CHECK_FALSE(settled);
  CHECK_FALSE(at_once->times_are_later);
  CHECK_FALSE(at_once->may_be_older);
  REQUIRE(machine.until([&] { return settled.has_value(); }));
  CHECK(settled->times_are_later);
  CHECK(settled->may_be_older);
  CHECK(cpu_time(*settled) > cpu_time(*at_once));
}

TEST_CASE("a world that is destroyed while threads settle answers no request") {
  Machine machine;
  machine.prepare();
  const auto ranks = machine.spawn("computes", 1);
  REQUIRE(machine.until([&] { return ranks->all("phase"); }));
  bool has_answered = false;
  bool has_settled = false;
  StackOrder order;
  order.bound = std::chrono::milliseconds(200);
  ranks->world->collect_stacks(order, [&](const evidence::Stacks&) { has_answered = true; });
  order.settle = std::chrono::milliseconds(20);
  ranks->world->collect_stacks(order, [&](const evidence::Stacks&) { has_settled = true; });
  REQUIRE(machine.until([&] { return has_answered; }));
  ranks->world.reset();
  testing::run_for(machine.loop, std::chrono::milliseconds(60));
  CHECK_FALSE(has_settled);
}
