#include <catch2/catch.hpp>

#include <distrun/runner/record/look.hpp>

using namespace distrun;
using namespace distrun::runner;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 100 * kSecond;

RankView in_body(int rank) {
  RankView view;
  view.rank = rank;
  view.shown.emplace();
  view.shown->phase = wire::Phase::Body;
  view.shown->phase_since_ns = kNow - 3 * kSecond;
  return view;
}

RankView in_barrier(int rank, const std::string& name, std::vector<int> peers) {
  RankView view = in_body(rank);
  board::ShownWait& wait = view.shown->waits.emplace_back();
  wait.kind = board::WaitKind::Barrier;
  wait.name = name;
  wait.rule = board::PeerRule::All;
  wait.peers = std::move(peers);
  wait.in_body = true;
  wait.since_ns = kNow - 2 * kSecond;
  return view;
}

RankView after(RankView view, board::WaitKind kind, const std::string& name, int peer) {
  view.shown->operations.push_back({1, board::WaitKind::Barrier, "before", 0, -1, kNow - 5 * kSecond});
  view.shown->operations.push_back({2, kind, name, 0, peer, kNow - 4 * kSecond});
  return view;
}

std::vector<std::string> lines_of(const std::vector<RankView>& views) {
  std::vector<std::string> lines;
  for (const WaitLine& line : wait_lines(views, kNow)) lines.push_back(describe(line));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("ranks in one barrier are one line, and wait for those that are not in it") {
  CHECK(lines_of({in_barrier(0, "meet", {0, 1, 2}), in_body(1), in_barrier(2, "meet", {0, 1, 2})}) ==
        Lines{"rank 1 has been in body for 3.0 s, in no wait on the board",
              "ranks 0, 2 have waited for 2.0 s in barrier \"meet\" for rank 1"});
}

TEST_CASE("of a rank in no wait the last that it did is told") {
  CHECK(lines_of({after(in_body(1), board::WaitKind::Receive, "go", 0)}) ==
        Lines{"rank 1 has been in body for 3.0 s, in no wait on the board; the last it did was receive \"go\" from "
              "rank 0"});
}

TEST_CASE("of ranks that are told together the last is told if it is the same") {
  const RankView first = after(in_body(0), board::WaitKind::Send, "go", 3);
  const RankView second = after(in_body(1), board::WaitKind::Send, "go", 3);
  CHECK(lines_of({first, second}) == Lines{"ranks 0-1 have been in body for 3.0 s, in no wait on the board; the last "
                                           "they did was send \"go\" to rank 3"});
  const RankView third = after(in_body(2), board::WaitKind::Send, "go", 1);
  CHECK(lines_of({first, second, third}) == Lines{"ranks 0-2 have been in body for 3.0 s, in no wait on the board"});
}
