#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <distrun/common/board/describe.hpp>
#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/common/wire/plugin_table.hpp>

using namespace distrun;
using namespace distrun::board;

namespace {

constexpr auto kNever = base::TimePoint::max();

// A slot of a new board, and its writer.
struct OneSlot {
  std::unique_ptr<Slot> slot = std::make_unique<Slot>();
  SlotWriter writer{slot.get()};
  OneSlot() { writer.attach(); }
  Shown look() const { return read(*slot, 4).value(); }
};

WaitInfo waiting_for(std::string_view name, int peer) {
  WaitInfo info;
  info.kind = WaitKind::Receive;
  info.name = name;
  info.rule = PeerRule::Any;
  info.peers.add(peer);
  return info;
}

base::TimePoint at(std::int64_t ns) { return base::TimePoint(std::chrono::nanoseconds(ns)); }

}  // namespace

TEST_CASE("a wait is shown with all that is known of it, until it ends") {
  const OneSlot one;
  SlotWriter writer = one.writer;
  WaitInfo info = waiting_for("go", 3);
  info.id = 81;
  info.site = {"/project/tests/ring_test.cpp", 41};
  const int cell = writer.begin_wait(info, at(1000), at(5000));
  const Shown shown = one.look();
  REQUIRE(shown.waits.size() == 1);
  const ShownWait& wait = shown.waits.front();
  CHECK(wait.kind == WaitKind::Receive);
  CHECK(wait.name == "go");
  CHECK(wait.id == 81);
  CHECK(wait.rule == PeerRule::Any);
  CHECK(wait.peers == std::vector<int>{3});
  CHECK(wait.in_body);
  CHECK(wait.since_ns == 1000);
  CHECK(wait.deadline_ns == 5000);
  CHECK(wait.file == "/project/tests/ring_test.cpp");
  CHECK(wait.line == 41);
  CHECK(describe(wait) == "receive \"go\" #81 for rank 3");
  CHECK(site_of(wait) == "ring_test.cpp:41");
  writer.end_wait(cell);
  CHECK(one.look().waits.empty());
}

TEST_CASE("a wait names any rank of the largest test, beside a name and a path of any length") {
  const OneSlot one;
  SlotWriter writer = one.writer;
  const std::string name(kNameSize, 'n'), path(kFileSize, 'p');
  for (const std::vector<int>& peers : std::vector<std::vector<int>>{{}, {0}, {63}, {64}, {5, 700}, {0, 1023}}) {
    WaitInfo info;
    info.name = name;
    info.site = {path.c_str(), 7};
    for (const int peer : peers) info.peers.add(peer);
    const int cell = writer.begin_wait(info, at(1), kNever);
    const Shown shown = read(*one.slot, wire::kWorldSizeMax).value();
    REQUIRE(shown.waits.size() == 1);
    CHECK(shown.waits.front().peers == peers);
    CHECK(shown.waits.front().name == name);
    CHECK(shown.waits.front().file == path);
    writer.end_wait(cell);
  }
}

TEST_CASE("the end of a wait is progress, its beginning is not") {
  const OneSlot one;
  SlotWriter writer = one.writer;
  const std::uint64_t before = one.look().epoch;
  const int cell = writer.begin_wait(waiting_for("x", 1), at(1), kNever);
  CHECK(one.look().epoch == before);
  writer.end_wait(cell);
  CHECK(one.look().epoch == before + 1);
}

TEST_CASE("a long name is cut at its end, a long path at its start") {
  const OneSlot one;
  SlotWriter writer = one.writer;
  const std::string name(1000, 'n');
  const std::string path = "/" + std::string(1000, 'd') + "/test.cpp";
  WaitInfo info = waiting_for(name, 1);
  info.site = {path.c_str(), 7};
  writer.begin_wait(info, at(1), kNever);
  const ShownWait wait = one.look().waits.at(0);
  CHECK(wait.name == std::string(kNameSize, 'n'));
  CHECK(wait.file == path.substr(path.size() - kFileSize));
  CHECK(site_of(wait) == "test.cpp:7");
  CHECK(wait.deadline_ns == 0);
}

TEST_CASE("waits of several threads are listed, the longest first") {
  const OneSlot one;
  SlotWriter writer = one.writer;
  writer.begin_wait(waiting_for("young", 1), at(3000), kNever);
  std::thread([&] { writer.begin_wait(waiting_for("old", 2), at(1000), kNever); }).join();
  const Shown shown = one.look();
  REQUIRE(shown.waits.size() == 2);
  CHECK(shown.waits[0].name == "old");
  CHECK_FALSE(shown.waits[0].in_body);
  CHECK(shown.waits[1].name == "young");
  CHECK(shown.waits[1].in_body);
}

TEST_CASE("waits beyond the number of cells are counted, and those that are shown end well") {
  const OneSlot one;
  SlotWriter writer = one.writer;
  std::vector<int> cells;
  for (int i = 0; i < kWaits + 10; ++i) cells.push_back(writer.begin_wait(waiting_for("w", 1), at(i + 1), kNever));
  CHECK(one.look().waits.size() == kWaits);
  CHECK(one.look().waits_not_shown == 10);
  for (const int cell : cells) writer.end_wait(cell);
  CHECK(one.look().waits.empty());
  CHECK(writer.begin_wait(waiting_for("again", 1), at(1), kNever) >= 0);
}

TEST_CASE("threads that wait without pause do not take each other's cells") {
  const OneSlot one;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int me = 0; me < 4; ++me) {
    threads.emplace_back([&, me] {
      SlotWriter writer = one.writer;
      const std::string name = "thread" + std::to_string(me);
      while (!stop) writer.end_wait(writer.begin_wait(waiting_for(name, me), at(me + 1), kNever));
    });
  }
  int wrong = 0;
  for (int i = 0; i < 2'000; ++i) {
    for (const ShownWait& wait : one.look().waits) {
      wrong += wait.name != "thread" + std::to_string(wait.since_ns - 1) ? 1 : 0;
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(one.look().waits.empty());
  CHECK(one.look().waits_not_shown == 0);
}

TEST_CASE("the last operations are kept in their order") {
  const OneSlot one;
  SlotWriter writer = one.writer;
  for (int i = 1; i <= 3 * kOperations; ++i) writer.note(WaitKind::Barrier, "b" + std::to_string(i), i, 7);
  const Shown shown = one.look();
  REQUIRE(shown.operations.size() == kOperations);
  for (int i = 0; i < kOperations; ++i) {
    const int number = 2 * kOperations + 1 + i;
    CHECK(shown.operations[static_cast<std::size_t>(i)].number == static_cast<std::uint64_t>(number));
    CHECK(shown.operations[static_cast<std::size_t>(i)].name == "b" + std::to_string(number));
    CHECK(shown.operations[static_cast<std::size_t>(i)].peer == number);
  }
}

TEST_CASE("errors are shown in their order, until they are hidden") {
  const OneSlot one;
  SlotWriter writer = one.writer;
  const int first = writer.show_error("the first");
  const int long_one = writer.show_error(std::string(kErrorSize + 1, 'x'));
  CHECK(one.look().errors == std::vector<std::string>{"the first", std::string(kErrorSize, 'x')});
  writer.hide_error(first);
  CHECK(one.look().errors == std::vector<std::string>{std::string(kErrorSize, 'x')});
  writer.hide_error(long_one);
  CHECK(one.look().errors.empty());
  std::vector<int> cells;
  for (int i = 0; i < kErrors + 1; ++i) cells.push_back(writer.show_error("e" + std::to_string(i)));
  CHECK(cells.back() == -1);
  CHECK(one.look().errors.size() == kErrors);
  for (const int cell : cells) writer.hide_error(cell);
  CHECK(one.look().errors.empty());
}

TEST_CASE("without a slot a writer does nothing") {
  SlotWriter writer;
  writer.attach();
  writer.enter_phase(wire::Phase::Body);
  writer.note(WaitKind::Barrier, "b");
  const int cell = writer.begin_wait(waiting_for("x", 1), at(1), kNever);
  CHECK(cell == -1);
  writer.end_wait(cell);
  CHECK(writer.show_error("e") == -1);
  writer.hide_error(-1);
}

TEST_CASE("a wait is described in words with the ranks it waits for") {
  ShownWait wait;
  wait.kind = WaitKind::Barrier;
  wait.name = "meet";
  wait.rule = PeerRule::All;
  wait.peers = {0, 2, 3};
  CHECK(describe(wait) == "barrier \"meet\" for ranks 0, 2-3");
  wait.rule = PeerRule::Any;
  CHECK(describe(wait) == "barrier \"meet\" for any of ranks 0, 2-3");
  wait.rule = PeerRule::None;
  CHECK(describe(wait) == "barrier \"meet\"");
  wait.name = "a\033[31m\n";
  CHECK(describe(wait).find('\033') == std::string::npos);
}
