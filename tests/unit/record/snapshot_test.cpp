#include <catch2/catch.hpp>

#include <distrun/runner/record/snapshot.hpp>

#include "views.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::views;
using board::WaitKind;

namespace {

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

TEST_CASE("ranks in one barrier share a line, and wait for the ranks that are not in it") {
  CHECK(lines_of({in_wait(0, WaitKind::Barrier, "meet", {0, 1, 2}), in_body(1),
                  in_wait(2, WaitKind::Barrier, "meet", {0, 1, 2})}) ==
        Lines{"rank 1 has been running the test body for 3.0 s (no wait recorded)",
              "ranks 0, 2 have waited for 2.0 s in barrier \"meet\" for rank 1"});
}

TEST_CASE("a rank without a recorded wait is shown with its last operation") {
  CHECK(lines_of({after(in_body(1), board::WaitKind::Receive, "go", 0)}) ==
        Lines{"rank 1 has been running the test body for 3.0 s (no wait recorded); its last operation was receive "
              "\"go\" from rank 0"});
}

TEST_CASE("ranks on one line are shown with their last operation if it is the same") {
  const RankView first = after(in_body(0), board::WaitKind::Send, "go", 3);
  const RankView second = after(in_body(1), board::WaitKind::Send, "go", 3);
  CHECK(lines_of({first, second}) == Lines{"ranks 0-1 have been running the test body for 3.0 s (no wait recorded); "
                                           "their last operation was send \"go\" to rank 3"});
  const RankView third = after(in_body(2), board::WaitKind::Send, "go", 1);
  CHECK(lines_of({first, second, third}) ==
        Lines{"ranks 0-2 have been running the test body for 3.0 s (no wait recorded)"});
}

TEST_CASE("unseen errors are listed after the waits, equal ones once") {
  Snapshot snapshot;
  snapshot.at_ns = kNow;
  snapshot.ranks = {in_body(0), in_body(1), in_body(2), RankView{3, {}}};
  snapshot.ranks[0].shown->errors = {"future (a.cpp:1) failed: no"};
  snapshot.ranks[2].shown->errors = {"future (b.cpp:2) failed: oh\nno", "future (a.cpp:1) failed: no"};
  const auto plain = [](const std::vector<evidence::Line>& lines) {
    Lines texts;
    for (const evidence::Line& line : lines) texts.push_back(evidence::plain(line));
    return texts;
  };
  CHECK(plain(describe(snapshot)) == Lines{"ranks 0-2 have been running the test body for 3.0 s (no wait recorded)",
                                           "ranks 0, 2: unseen error: future (a.cpp:1) failed: no",
                                           "rank 2: unseen error: future (b.cpp:2) failed: oh no"});
  CHECK(plain(only(1, snapshot).text) ==
        Lines{"ranks 0-2 have been running the test body for 3.0 s (no wait recorded)"});
  CHECK(plain(only(0, snapshot).text).back() == "ranks 0, 2: unseen error: future (a.cpp:1) failed: no");
}

TEST_CASE("ranks that wait for each other in waits of one name are each shown with the other") {
  CHECK(lines_of({in_wait(0, WaitKind::RpcReply, "f", {1}, 1), in_wait(1, WaitKind::RpcReply, "f", {0}, 1)}) ==
        Lines{"rank 0 has waited for 2.0 s in RPC reply \"f\" #1 for rank 1; rank 1 is not running it",
              "rank 1 has waited for 2.0 s in RPC reply \"f\" #1 for rank 0; rank 0 is not running it"});
}

TEST_CASE("a rank in a barrier names the rank outside it that it waits for") {
  CHECK(
      lines_of({in_wait(0, WaitKind::Barrier, "all_gather", {1}), in_body(1),
                in_wait(2, WaitKind::Barrier, "all_gather", {0}), in_wait(3, WaitKind::Barrier, "all_gather", {0})}) ==
      Lines{"rank 1 has been running the test body for 3.0 s (no wait recorded)",
            "rank 0 has waited for 2.0 s in barrier \"all_gather\" for rank 1",
            "ranks 2-3 have waited for 2.0 s in barrier \"all_gather\" for rank 0"});
}

TEST_CASE("a wait in slices is shown with its total time and its ranks") {
  RankView view = in_wait(0, WaitKind::Backward, "gradients from worker 1", {1});
  view.shown->waits.back().rule = board::PeerRule::None;
  view = waits(waits(view, WaitKind::Backward, "gradients from worker 1"), WaitKind::Backward, "a backward pass");
  view.shown->waits.back().since_ns = kNow - kSecond / 10;
  CHECK(lines_of({view}) == Lines{"rank 0 has waited for 2.0 s in backward \"gradients from worker 1\" for rank 1"});
  view.shown->waits.erase(view.shown->waits.begin());
  CHECK(lines_of({view}) == Lines{"rank 0 has waited for 2.0 s in backward \"gradients from worker 1\""});
}

TEST_CASE("the innermost of nested waits is shown") {
  CHECK(lines_of({waits(in_wait(0, WaitKind::Custom, "training"), WaitKind::Barrier, "step", {1})}) ==
        Lines{"rank 0 has waited for 2.0 s in barrier \"step\" for rank 1"});
}

TEST_CASE("a wait on behalf of another rank is not shown as the rank's own") {
  CHECK(lines_of({waits(runs(in_body(0), "f", 1, 1, 9000), WaitKind::StoreGet, "key", {}, 0, 9000)}) ==
        Lines{"rank 0 has been running the test body for 3.0 s (no wait recorded)"});
}

TEST_CASE("a rank that waits for a lock waits for the rank of the process that holds it") {
  CHECK(lines_of({in_wait(0, WaitKind::Custom, "lock of process 4701: model"), in_body(1)}) ==
        Lines{"rank 1 has been running the test body for 3.0 s (no wait recorded)",
              "rank 0 has waited for 2.0 s in wait \"lock of process 4701: model\" for rank 1"});
}
