// Collectives over RPC.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rpc/session/detail/session_state.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {
namespace {

// A gate at which ranks wait until the test opens it.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait_for(lock, std::chrono::seconds(60), [&] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

void begin(const Ranks& ranks, int rank) { init_rpc(ranks.options(rank)); }

TEST_CASE("all workers gather one value from each") {
  const Ranks ranks(4);
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    for (int round = 0; round < 3; ++round) {
      const auto all = all_gather(to_value(10 * round + rank));
      for (int other = 0; other < 4; ++other) {
        if (from_value<int>(all.at(name_of(other))) != 10 * round + other) throw Error(ErrorKind::Failed, "wrong");
      }
      if (all.size() != 4) throw Error(ErrorKind::Failed, "more");
    }
    shutdown();
  });
  CHECK(errors == no_errors(4));
}

TEST_CASE("barriers of disjoint groups are independent, and one of a single worker does not wait") {
  const Ranks ranks(4);
  std::mutex mutex;
  std::map<int, int> passed;  // by the parity of the ranks
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    const std::set<std::string> names =
        rank % 2 == 0 ? std::set<std::string>{name_of(0), name_of(2)} : std::set<std::string>{name_of(rank)};
    for (int round = 1; round <= 20; ++round) {
      {
        const std::lock_guard lock(mutex);
        ++passed[rank % 2];
      }
      barrier(names);
      const std::lock_guard lock(mutex);
      if (rank % 2 == 0 && passed[0] < 2 * round) throw Error(ErrorKind::Failed, "it has not waited");
    }
    shutdown();
  });
  CHECK(errors == no_errors(4));
}

TEST_CASE("several threads of a worker meet those of others") {
  const Ranks ranks(3);
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    std::vector<std::string> failed(3);
    {
      std::vector<std::unique_ptr<base::Thread>> threads;
      for (std::size_t i = 0; i < 3; ++i) {
        threads.push_back(std::make_unique<base::Thread>("meets", [&, i] {
          failed[i] = ranks.error_as(rank, [] {
            for (int round = 0; round < 20; ++round) barrier({name_of(0), name_of(1), name_of(2)});
          });
        }));
      }
      for (const auto& each : threads) each->join();
    }
    for (const std::string& each : failed) {
      if (!each.empty()) throw Error(ErrorKind::Failed, each);
    }
    shutdown();
  });
  CHECK(errors == no_errors(3));
}

TEST_CASE("names are those of workers, including the own one") {
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    const std::string unknown = text_of_error([&] { barrier({name_of(rank), "absent"}); });
    const std::string without = text_of_error([&] { barrier({name_of(1 - rank)}); });
    shutdown();
    throw Error(ErrorKind::Failed, unknown + "; " + without);
  });
  CHECK_THAT(errors[0], Catch::Contains("could not find destination name absent"));
  CHECK_THAT(errors[0], Catch::Contains("worker0 is not among them"));
}

TEST_CASE("a worker that arrives too late gets an error, and nothing of the round is left") {
  const Ranks ranks(2);
  Gate gave_up;
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    std::string first;
    if (rank == 0) {
      first = text_of_error([] { all_gather(Value(), {}, 0.05); });
      gave_up.open();
    } else {
      gave_up.pass();
      first = text_of_error([] { all_gather(Value(), {}, 5.0); });
    }
    all_gather(Value());  // the next one is not affected
    shutdown();
    throw Error(ErrorKind::Failed, first);
  });
  CHECK_THAT(errors[0], Catch::Contains("Followers [worker1] timed out in _all_gather after 0.05 seconds"));
  CHECK_THAT(errors[1], Catch::Contains("the leader has given up _all_gather"));
}

TEST_CASE("a follower times out with the timeout of a call") {
  const Ranks ranks(2);
  Gate gave_up;
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    std::string first;
    if (rank == 1) {
      first = text_of_error([] { all_gather(Value(), {}, 0.05); });
      gave_up.open();
    } else {
      gave_up.pass();
      first = text_of_error([] { all_gather(Value(), {}, 5.0); });
    }
    shutdown();
    throw Error(ErrorKind::Failed, first);
  });
  CHECK(errors[0] ==
        "RuntimeError: Followers [worker1] have not taken what _all_gather has gathered: RuntimeError: it has given up "
        "_all_gather number 0 of worker0, worker1 (torch says that they timed out in _all_gather after 5.00 seconds)");
  CHECK_THAT(errors[1], Catch::Contains("RPC ran for more than"));
}

// Encoding and decoding take longer than a call may take.
struct SlowToSend {
  int number = 0;
};
void take_long() {
  const base::TimePoint end = base::system_clock().now() + std::chrono::milliseconds(200);
  while (base::system_clock().now() < end) std::this_thread::yield();
}
const auto slow_class = RegisterClass<SlowToSend>("SlowToSend")
                            .by_value(
                                [](const SlowToSend& slow) {
                                  take_long();
                                  return slow.number;
                                },
                                [](int number) {
                                  take_long();
                                  return SlowToSend{number};
                                });

TEST_CASE("a slow value is still taken by the leader, which then finds that the followers have given up") {
  const Ranks ranks(3);
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    set_rpc_timeout(0.1);
    const std::string error = text_of_error([&] { all_gather(to_value(SlowToSend{rank})); });
    shutdown();  // although calls have little time
    throw Error(ErrorKind::Failed, error);
  });
  // A follower that has left before the map arrives says that it has given up: the leader's time is over a little
  // later.
  CHECK_THAT(errors[0], Catch::Contains("timed out in _all_gather after "));
  for (std::size_t rank : {1U, 2U}) CHECK_THAT(errors[rank], Catch::Contains("RPC ran for more than"));
}

// Cannot be sent.
struct Unsent {};
const auto unsent_class = RegisterClass<Unsent>("Unsent").by_value(
    [](const Unsent&) -> int { throw Error(ErrorKind::InvalidArgument, "ValueError", "not to be sent"); },
    [](int) { return Unsent(); });

TEST_CASE("a meeting that fails on one worker fails for all with the reason, and they meet again") {
  const int failing = GENERATE(0, 1);
  const Ranks ranks(3);
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    const std::string first =
        text_of_error([&] { all_gather(rank == failing ? to_value(Unsent()) : to_value(rank), {}, 30.0); });
    const auto next = all_gather(to_value(rank));
    for (int other = 0; other < 3; ++other) {
      if (from_value<int>(next.at(name_of(other))) != other) throw Error(ErrorKind::Failed, "wrong");
    }
    shutdown();
    throw Error(ErrorKind::Failed, first);
  });
  for (const std::string& error : errors) CHECK_THAT(error, Catch::Contains("not to be sent"));
  const std::string follower = errors[failing == 0 ? 2 : 0];
  CHECK_THAT(follower, Catch::Contains(failing == 0 ? "worker0: " : "worker1 has left it: "));
}

TEST_CASE("a worker that has left ends the meetings that wait for it") {
  const Ranks ranks(3);
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    if (rank == 2) {
      barrier({name_of(1), name_of(2)});
      return shutdown({.graceful = false});
    }
    if (rank == 1) barrier({name_of(1), name_of(2)});
    all_gather(Value());
  });
  CHECK_THAT(errors[0], Catch::Contains("worker2 will not come") && Catch::Contains("has left"));
  CHECK_THAT(errors[1], Catch::Contains("worker2 will not come") || Catch::Contains("the leader has given up"));
}

TEST_CASE("a peer that fails ends a meeting") {
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    begin(ranks, rank);
    if (rank == 1) return ranks.state(0).fail_peer({1, "rank 1 failed: it crashed"});
    wait_all_workers();
  });
  CHECK_THAT(errors[0], Catch::StartsWith("PeerFailed") && Catch::Contains("rank 1 failed: it crashed"));
}

}  // namespace
}  // namespace distrun::rpc
