// The runtime's state of a rank.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <atomic>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/rank_state.hpp>

#include "unit/core/fake_rank_line.hpp"

namespace distrun::core {
namespace {

struct Numbers {
  int drawn = 0;
};

TEST_CASE("a part is created once, on first use") {
  RankState rank;
  rank.part<Numbers>(Part::Random).drawn = 7;
  CHECK(rank.part<Numbers>(Part::Random).drawn == 7);
  RankState other;
  CHECK(other.part<Numbers>(Part::Random).drawn == 0);
}

TEST_CASE("a thread without a rank of its own works for the process's rank") {
  CHECK(&rank_state() == &process_rank_state());
  testing::FakeRank rank;
  CHECK(&rank_state() == &rank.state);
}

TEST_CASE("the first failure is reported once, to earlier and to later subscribers") {
  RankState rank;
  std::vector<std::string> told;
  const auto tell = [&](const PeerFailure& failure) { told.push_back(failure.why); };
  {
    const PeerFailedCall before(rank, tell);
    rank.fail_peer({1, "first"});
    rank.fail_peer({2, "second"});
    CHECK(told == std::vector<std::string>{"first"});
  }
  const PeerFailedCall later(rank, tell);
  CHECK(told == std::vector<std::string>{"first", "first"});
  CHECK(rank.peer_failure()->rank == 1);
}

TEST_CASE("the first death that a rank meets is remembered until the next test, unless the test has declared it") {
  RankState rank;
  CHECK_FALSE(rank.noted_death());
  rank.note_death({-1, 4711});  // no rank of the test
  CHECK_FALSE(rank.noted_death());
  rank.note_death({2, 4711});
  rank.note_death({3, 4712});
  REQUIRE(rank.noted_death());
  CHECK(rank.noted_death()->rank == 2);
  CHECK(rank.noted_death()->pid == 4711);
  rank.lose_peer(2);
  CHECK_FALSE(rank.noted_death());
  rank.forget_failure();
  rank.lose_peer(3);
  rank.note_death({3, 4712});
  CHECK_FALSE(rank.noted_death());
  rank.forget_failure();
  CHECK_FALSE(rank.noted_death());
  rank.note_death({3, 4712});
  CHECK(rank.noted_death()->rank == 3);
}

TEST_CASE("each death that the test has declared is reported, also to later subscribers, until the next test") {
  RankState rank;
  std::vector<int> told;
  {
    const PeerDiedCall before(rank, [&](int dead) { told.push_back(dead); });
    rank.lose_peer(2);
    rank.lose_peer(1);
    CHECK(told == std::vector<int>{2, 1});
  }
  rank.lose_peer(3);
  CHECK(told.size() == 2);
  CHECK_FALSE(rank.has_failed_peer());
  std::vector<int> later;
  {
    const PeerDiedCall call(rank, [&](int dead) { later.push_back(dead); });
  }
  CHECK(later == std::vector<int>{1, 2, 3});
  rank.forget_failure();
  later.clear();
  {
    const PeerDiedCall call(rank, [&](int dead) { later.push_back(dead); });
  }
  CHECK(later.empty());
}

TEST_CASE("a peer's rank is that of its process, with any peer number") {
  testing::FakeRank rank;
  rank.line.pids = {{0, 4710}, {1, 4711}, {5, 4715}};
  CHECK(rank_of_peer(1, 4711) == 1);
  CHECK(rank_of_peer(1, 0) == 1);
  CHECK(rank_of_peer(0, 4715) == 5);
  CHECK(rank_of_peer(-1, 4710) == 0);
  CHECK(rank_of_peer(0, 4799) == -1);
  CHECK(rank_of_peer(3, 0) == -1);
  rank.line.pids = {{0, ::getpid()}, {1, 1 << 22}};  // above the maximum pid
  CHECK(rank_of_dead(0) == -1);
  CHECK(rank_of_dead(1) == 1);
  CHECK(rank_of_dead(2) == -1);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  rank.line.pids = {{3, child}};
  CHECK(rank_of_dead(3) == 3);  // ended, but not reaped
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("a subscriber that has cancelled is not notified") {
  RankState rank;
  int told = 0;
  {
    const PeerFailedCall call(rank, [&](const PeerFailure&) { ++told; });
  }
  rank.fail_peer({1, "first"});
  CHECK(told == 0);
}

// A thread that waits for a lock held by a notified thread must not block its questions.
TEST_CASE("while a subscriber is notified, other threads may ask for the failure") {
  RankState rank;
  std::atomic<bool> answered{false};
  const auto ask_on_a_thread = [&](const PeerFailure&) {
    base::Thread("asks", [&] { answered = rank.peer_failure().has_value(); }).join();
  };
  const PeerFailedCall before(rank, ask_on_a_thread);
  rank.fail_peer({1, "first"});
  CHECK(answered.exchange(false));
  const PeerFailedCall later(rank, ask_on_a_thread);
  CHECK(answered);
}

TEST_CASE("a test does not see the failure of an earlier one") {
  RankState rank;
  rank.fail_peer({1, "first"});
  rank.forget_failure();
  CHECK_FALSE(rank.has_failed_peer());
  CHECK_FALSE(rank.peer_failure());
}

}  // namespace
}  // namespace distrun::core
