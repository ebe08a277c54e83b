// A rank's line over the C functions of its runner, which may be older.
#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

#include <distrun/runtime/attach/rank_line.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::runtime {
namespace {

// The arguments of the functions.
struct Told {
  std::vector<std::string> plain;     // wait_begin
  std::vector<board::PeerSet> peers;  // wait_begin_for
  std::vector<std::int64_t> deadlines;
  std::vector<std::uint64_t> ids;
  std::vector<std::string> done;
  int progressed = 0;
  int ended = 0;
  std::vector<std::string> errors;
  std::vector<int> hidden;
};

Told& told_of(void* waits) { return *static_cast<Told*>(waits); }

std::int32_t begin(void* waits, std::int32_t, distrun_string name, const char*, std::uint32_t) {
  told_of(waits).plain.push_back(keep(name));
  return 3;
}

std::int32_t begin_for(void* waits, const distrun_wait* wait) {
  board::PeerSet peers;
  for (std::size_t i = 0; i < wait->peer_words; ++i) peers.bits.at(i) = wait->peers[i];
  told_of(waits).peers.push_back(peers);
  told_of(waits).deadlines.push_back(wait->deadline_ns);
  told_of(waits).ids.push_back(wait->id);
  return 4;
}

void end(void* waits, std::int32_t) { ++told_of(waits).ended; }
void did(void* waits, const distrun_operation* operation) { told_of(waits).done.push_back(keep(operation->name)); }
void progress(void* waits) { ++told_of(waits).progressed; }

std::int32_t show(void* waits, distrun_string text) {
  told_of(waits).errors.push_back(keep(text));
  return 6;
}
void hide(void* waits, std::int32_t number) { told_of(waits).hidden.push_back(number); }

// Rank 1 waits for rank 2, in a wait kind unknown to this build.
std::int32_t look(void*, std::int32_t rank, void (*shown)(void*, const distrun_peer*), void* context) {
  if (rank != 1) return DISTRUN_NOT_FOUND;
  const std::uint64_t peers[] = {std::uint64_t{1} << 2, 0, 1, 0};  // and 128
  distrun_wait wait{};
  wait.kind = 99;
  wait.peer_rule = DISTRUN_PEERS_ANY;
  wait.name = lend("f");
  wait.peers = peers;
  wait.peer_words = 4;
  wait.id = 81;
  wait.file = "ring.cpp";
  wait.line = 7;
  distrun_operation operation{};
  operation.kind = static_cast<std::int32_t>(board::WaitKind::Send);
  operation.peer = 3;
  operation.name = lend("hello");
  distrun_peer peer{};
  peer.pid = 4711;
  peer.epoch = 12;
  peer.waits = &wait;
  peer.wait_count = 1;
  peer.operations = &operation;
  peer.operation_count = 1;
  shown(context, &peer);
  return DISTRUN_OK;
}

distrun_rank rank_with(Told& told) {
  distrun_rank rank{};
  rank.size = sizeof rank;
  rank.waits = &told;
  rank.wait_begin = begin;
  rank.wait_end = end;
  rank.wait_begin_for = begin_for;
  rank.did = did;
  rank.progress = progress;
  rank.look_at_peer = look;
  rank.error_show = show;
  rank.error_hide = hide;
  return rank;
}

board::WaitInfo wait_for(int peer) {
  board::WaitInfo info;
  info.name = "f";
  info.rule = board::PeerRule::All;
  info.peers.add(peer);
  info.id = 81;
  return info;
}

TEST_CASE("a wait is sent with its peers, its number and its deadline") {
  Told told;
  const auto line = make_rank_line(rank_with(told));
  CHECK(line->begin_wait(wait_for(200), base::TimePoint(base::Nanoseconds(1234))) == 4);
  CHECK(line->begin_wait(wait_for(0), core::kForever) == 4);
  REQUIRE(told.peers.size() == 2);
  CHECK(told.peers[0].has(200));
  CHECK_FALSE(told.peers[0].has(0));
  CHECK(told.deadlines == std::vector<std::int64_t>{1234, 0});
  CHECK(told.ids == std::vector<std::uint64_t>{81, 81});
  line->end_wait(4);
  CHECK(told.ended == 1);
}

TEST_CASE("operations and progress are sent") {
  Told told;
  const auto line = make_rank_line(rank_with(told));
  line->note(board::WaitKind::Send, "hello", 1, 5);
  line->progress();
  CHECK(told.done == std::vector<std::string>{"hello"});
  CHECK(told.progressed == 1);
}

TEST_CASE("an unseen error is sent, if the line shows errors") {
  Told told;
  distrun_rank rank = rank_with(told);
  const auto line = make_rank_line(rank);
  CHECK(line->show_error("in vain") == 6);
  line->hide_error(6);
  CHECK(told.errors == std::vector<std::string>{"in vain"});
  CHECK(told.hidden == std::vector{6});
  rank.size = offsetof(distrun_rank, error_show);
  const auto older = make_rank_line(rank);
  CHECK(older->show_error("in vain") == -1);
  older->hide_error(-1);
  CHECK(told.errors.size() == 1);
  CHECK(told.hidden.size() == 1);
}

TEST_CASE("a snapshot of a peer has its waits, and a wait of an unknown kind") {
  Told told;
  const auto line = make_rank_line(rank_with(told));
  const auto shown = line->look_at(1);
  REQUIRE(shown);
  CHECK(shown->pid == 4711);
  CHECK(shown->epoch == 12);
  REQUIRE(shown->waits.size() == 1);
  CHECK(shown->waits[0].kind == board::WaitKind::Custom);
  CHECK(shown->waits[0].peers == std::vector{2, 128});
  CHECK(shown->waits[0].rule == board::PeerRule::Any);
  CHECK(shown->waits[0].file == "ring.cpp");
  REQUIRE(shown->operations.size() == 1);
  CHECK(shown->operations[0].peer == 3);
  CHECK_FALSE(line->look_at(2));
}

TEST_CASE("with an older distrun waits are shown without their peers, and the rest is not sent") {
  Told told;
  distrun_rank rank = rank_with(told);
  rank.size = offsetof(distrun_rank, wait_begin_for);
  rank.wait_begin_for = nullptr;  // it may contain anything
  CHECK(has_waits(rank));
  CHECK_FALSE(has_peers(rank));
  const auto line = make_rank_line(rank);
  CHECK(line->begin_wait(wait_for(1), core::kForever) == 3);
  CHECK(told.plain == std::vector<std::string>{"f"});
  line->note(board::WaitKind::Send, "hello", 1, 5);
  line->progress();
  CHECK_FALSE(line->look_at(1));
  CHECK(told.progressed == 0);
}

TEST_CASE("a distrun without support for waits is recognized") {
  distrun_rank rank{};
  rank.size = offsetof(distrun_rank, waits);
  CHECK_FALSE(has_waits(rank));
}

}  // namespace
}  // namespace distrun::runtime
