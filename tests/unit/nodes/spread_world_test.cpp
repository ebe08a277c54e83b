#include <catch2/catch.hpp>

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/spawn.hpp>

#include "support/error_of.hpp"
#include "two_nodes.hpp"

namespace distrun::nodes {
namespace {

// The answer to a request: each process has a thread with the given name.
Collected named(const NameRequest& request, const std::vector<std::string>& names) {
  Collected collected;
  collected.id = request.id;
  for (std::size_t i = 0; i < names.size(); ++i) {
    evidence::Process process;
    process.index = static_cast<int>(i);
    process.threads.emplace_back().task.name = names[i];
    collected.stacks.processes.push_back(std::move(process));
  }
  return collected;
}

std::map<int, std::string> names_by_index(const evidence::Stacks& stacks) {
  std::map<int, std::string> names;
  for (const evidence::Process& process : stacks.processes) names[process.index] = process.threads.front().task.name;
  return names;
}

}  // namespace

TEST_CASE("stacks named by several hosts keep their positions, in any order of the hosts' answers") {
  TwoNodes two;
  evidence::Stacks got;
  // Two of rank 1, since it may have thrown twice, with one of another host between them.
  two.world->name_stacks("exception", {{1, {}}, {3, {}}, {1, {}}, {2, {}}}, std::chrono::seconds(1),
                         [&](evidence::Stacks stacks) { got = std::move(stacks); });
  const auto first = two.told<NameRequest>(0, wire::NodeFrame::NameStacks);
  const auto second = two.told<NameRequest>(1, wire::NodeFrame::NameStacks);
  REQUIRE(first.stacks.size() == 2);
  REQUIRE(second.stacks.size() == 2);
  CHECK(second.stacks[0].rank == 3);
  two.answer(1, wire::NodeFrame::Collected, named(second, {"of 3", "of 2"}));
  two.answer(0, wire::NodeFrame::Collected, named(first, {"first of 1", "second of 1", "more than was asked for"}));
  two.run_loop();
  CHECK(names_by_index(got) ==
        std::map<int, std::string>{{0, "first of 1"}, {1, "of 3"}, {2, "second of 1"}, {3, "of 2"}});
}

TEST_CASE("the machines of a run are its hosts, and each counts the ranks that it runs") {
  io::Loop loop;
  NodeSet set(loop, 0, [] { return nullptr; });
  for (const char* host : {"node01", "node02"}) {
    RemoteNode::Link link{[](const wire::Bytes&) {}, [] { return Offset{}; }};
    set.add(std::make_unique<RemoteNode>(loop, 0, host, "10.0.0.1", std::move(link)), {host, 3}, {host, 8, 0, 2, ""});
  }
  REQUIRE(set.machines().size() == 2);
  CHECK(set.machines()[1].host == "node02");
  CHECK(set.machines()[1].cpus == 8);
  CHECK(set.split(4) == std::vector{3, 1});
  CHECK(set.split(7) == std::vector{7, 0});  // it fits nowhere
  CHECK(set.split(0) == std::vector{0, 0});
}

namespace {

// Two nodes as a set, whose frames a test reads and answers.
class PlayedSet {
 public:
  PlayedSet() : set(loop, 0, [] { return nullptr; }) {
    for (const int number : {0, 1}) {
      RemoteNode::Link link{[this, number](wire::Bytes packed) { receive(number, packed); }, [] { return Offset{}; }};
      auto node = std::make_unique<RemoteNode>(loop, number, "node0" + std::to_string(number), "10.0.0.1", link);
      nodes[static_cast<std::size_t>(number)] = node.get();
      set.add(std::move(node), {"node0" + std::to_string(number), 3}, {});
    }
  }
  void answer(int node, std::uint32_t id, const std::string& error) {
    nodes[static_cast<std::size_t>(node)]->take(
        {wire::NodeFrame::Prepared, 0, wire::encode(PreparedAnswer{id, error, {}, ""})});
  }
  // Returns what the task has thrown; "none": nothing; empty: it is not over.
  void begin(io::Task<void> task) {
    io::spawn(loop, std::move(task), [this](const std::exception_ptr& error) {
      outcome = "none";
      if (error) outcome = testing::error_of([&] { std::rethrow_exception(error); }).what();
    });
    turn();
  }
  void turn() {
    for (int i = 0; i < 10; ++i) {
      loop.post([this] { loop.stop(); });
      loop.run();
      loop.context().restart();
    }
  }

  io::Loop loop;
  NodeSet set;
  std::array<RemoteNode*, 2> nodes{};
  std::array<std::vector<wire::Frame>, 2> told;
  std::string outcome;

 private:
  void receive(int node, const wire::Bytes& packed) {
    wire::FrameSplitter splitter(wire::kProtocol<wire::NodeFrame>);
    splitter.feed(wire::view_of(packed));
    while (auto frame = splitter.next()) told[static_cast<std::size_t>(node)].push_back(std::move(*frame));
  }
};

std::uint64_t seed_told(const PlayedSet& played, std::size_t node) {
  const wire::Frame& frame = played.told[node].back();
  REQUIRE(frame.is(wire::NodeFrame::BeginLoad));
  return payload<LoadRequest>(frame).plan.seed;
}

}  // namespace

TEST_CASE("each host is made busy by a plan of its own, which is the same for the same seed") {
  PlayedSet played, again, other;
  for (PlayedSet* each : {&played, &again}) each->begin(each->set.begin_load({true, false, true, 7}));
  other.begin(other.set.begin_load({true, false, true, 8}));
  const auto plan = payload<LoadRequest>(played.told[0].back()).plan;
  CHECK((plan.cpu && !plan.memory && plan.pause));
  for (const std::size_t node : {0U, 1U}) {
    CHECK(seed_told(played, node) == seed_told(again, node));
    CHECK(seed_told(played, node) != seed_told(other, node));
  }
  CHECK(seed_told(played, 0) != seed_told(played, 1));
  CHECK(played.outcome.empty());
  played.answer(0, 1, "");
  played.answer(1, 1, "no thread");
  played.turn();
  CHECK(played.outcome == "no thread (on node01)");
  played.set.end_load();
  for (const std::size_t node : {0U, 1U}) CHECK(played.told[node].back().is(wire::NodeFrame::EndLoad));
}

TEST_CASE("a private /tmp is refused if one host does not allow it, and a lost host does not say so") {
  PlayedSet played;
  played.begin(played.set.require_private_tmp());
  for (const std::size_t node : {0U, 1U}) CHECK(played.told[node].back().is(wire::NodeFrame::TryPrivateTmp));
  const bool is_lost = GENERATE(false, true);
  if (is_lost) {
    played.nodes[1]->lose("its node ended");
  } else {
    played.answer(1, 1, "which are denied here");
  }
  played.turn();
  CHECK(played.outcome.empty());
  played.answer(0, 1, "");
  played.turn();
  CHECK(played.outcome == (is_lost ? "none" : "which are denied here (on node01)"));
}

TEST_CASE("an event of a rank happened when its host has seen it, as well as the clocks of both hosts are known") {
  using std::chrono::microseconds;
  TwoNodes two;
  launch::WorldSpec spec;
  spec.world_size = 4;
  two.world->begin(spec);
  two.answer(0, wire::NodeFrame::Spawned, Spawned{1});
  const wire::Bytes phase = wire::pack(wire::ControlFrame::Phase, 2, wire::PhaseChange{wire::Phase::Body});
  const auto told_at = [&](std::int64_t at_ns) {
    two.answer(1, wire::NodeFrame::FromRank, RankBytes{1, 2, text_of(phase), at_ns});
    return two.world->seen_at(2);
  };
  CHECK(!two.world->seen_at(2));
  two.offset = Offset{microseconds(-40), microseconds(3)};
  REQUIRE(told_at(100'000));
  CHECK(told_at(100'000)->at.time_since_epoch() == microseconds(60));
  CHECK(told_at(100'000)->error == microseconds(3));
  CHECK(!told_at(0));
  two.offset.reset();
  CHECK(!told_at(100'000));
  two.offset = Offset{microseconds(5), microseconds(2)};
  RankEnded ended;
  ended.world = 1;
  ended.last.rank = 2;
  ended.signal = 9;
  ended.at_ns = 200'000;
  two.answer(1, wire::NodeFrame::RankEnded, ended);
  REQUIRE(two.world->seen_at(2));
  CHECK(two.world->seen_at(2)->at.time_since_epoch() == microseconds(205));
}

TEST_CASE("a signal goes to the node of the rank") {
  TwoNodes two;
  two.world->signal(1, 15);
  two.world->signal(2, 9);
  CHECK(two.told<SignalOrder>(0, wire::NodeFrame::Signal).rank == 1);
  CHECK(two.told<SignalOrder>(1, wire::NodeFrame::Signal).rank == 2);
}

TEST_CASE("ranks on hosts are clean if all hosts say so, and a host that is lost says nothing") {
  TwoNodes two;
  const bool is_first_clean = GENERATE(false, true);
  const bool is_second_lost = GENERATE(false, true);
  std::vector<bool> answers;
  two.world->inspect([&](bool is_clean) { answers.push_back(is_clean); });
  CHECK(two.told<WorldOrder>(1, wire::NodeFrame::Inspect).world == 1);
  two.answer(0, wire::NodeFrame::Inspected, Inspected{1, is_first_clean, {}});
  two.run_loop();
  CHECK(answers.empty());
  if (is_second_lost) {
    two.nodes[1]->lose("its node ended");
  } else {
    two.answer(1, wire::NodeFrame::Inspected, Inspected{1, true, {}});
  }
  CHECK(answers == std::vector<bool>{is_first_clean});
}

TEST_CASE("what hosts say of ranks that have been dismissed meanwhile changes nothing") {
  TwoNodes two;
  bool has_answer = false;
  two.world->inspect([&](bool) { has_answer = true; });
  std::vector<launch::LeftBehind> found;
  bool is_swept = false;
  two.world->sweep(false, [&](std::vector<launch::LeftBehind> left) {
    found = std::move(left);
    is_swept = true;
  });
  for (int node = 0; node < 2; ++node) {
    two.answer(node, wire::NodeFrame::Inspected, Inspected{1, true, {}});
    CHECK_FALSE(is_swept);
    two.answer(node, wire::NodeFrame::Swept, Swept{1, {{0, "7 (sleep 9)", true}}});
  }
  CHECK_FALSE(has_answer);
  REQUIRE(found.size() == 2);
  CHECK(found[1].what == "7 (sleep 9) on node01");
}

TEST_CASE("kept ranks get a new store and new ports for each test, and keep the store that their suite uses") {
  TwoNodes two;
  const bool holds = GENERATE(false, true);
  two.answer(0, wire::NodeFrame::Spawned, Spawned{1, {4000, 4001}});
  const std::string first_store = two.world->spread()->store;
  CHECK(two.world->spread()->master_port == 4000);
  two.world->inspect([](bool) {});
  two.answer(1, wire::NodeFrame::Inspected, Inspected{1, true, {}});
  two.answer(0, wire::NodeFrame::Inspected, Inspected{1, true, {5000, 5001}});
  two.world->keep(holds);
  CHECK(two.told<WorldOrder>(1, wire::NodeFrame::Keep).yes == holds);
  launch::WorldSpec next;
  next.test = "Suite.next";
  next.own_gpu = true;
  two.world->renew(next);
  const auto renewed = two.told<RenewRequest>(1, wire::NodeFrame::Renew);
  CHECK(renewed.test.id == "Suite.next");
  CHECK(renewed.test.own_gpu);
  CHECK(two.world->spread()->rendezvous_port == 5001);
  CHECK(two.world->spread()->store != first_store);
  REQUIRE(two.stores.size() == 2);
  CHECK(two.stores[0].expired() != holds);
  CHECK_FALSE(two.stores[1].expired());
}

TEST_CASE("a world that cannot begin is swept without its nodes") {
  TwoNodes two;
  SpreadWorld other(two.loop, two.events, 2, {{two.nodes[0].get(), 0, 1}, {two.nodes[1].get(), 1, 1}},
                    []() -> std::shared_ptr<const WorldStore> { throw Error(ErrorKind::Failed, "no port is free"); });
  other.begin({});
  bool is_swept = false;
  other.sweep(true, [&](const std::vector<launch::LeftBehind>& left) { is_swept = left.empty(); });
  two.run_loop();
  CHECK(is_swept);
  CHECK(two.told<WorldOrder>(0, wire::NodeFrame::Sweep).world == 0);
}

TEST_CASE("output of an earlier test is forgotten here and on the hosts") {
  TwoNodes two;
  two.answer(1, wire::NodeFrame::Captured, CapturedStream{1, 2, launch::Stream::Out, "old", 3, 0});
  CHECK(two.world->standard_output(2).text == "old");
  two.world->forget_output();
  CHECK(two.world->standard_output(2).text.empty());
  CHECK(two.told<WorldOrder>(1, wire::NodeFrame::ForgetOutput).world == 1);
}

}  // namespace distrun::nodes
