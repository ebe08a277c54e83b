#include "deaths.hpp"

#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/rank_state.hpp>

#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::testing::deaths {
namespace {

using namespace std::chrono_literals;
using rpc::testing::Company;
using rpc::testing::Lines;
using rpc::testing::Post;

constexpr int kAtOnce = 4;  // cases that run beside each other
const base::Nanoseconds kBound = scaled(3000ms);

// The processes of all ranks, in memory that they share; made before they are forked.
using Pids = std::atomic<int>[kRanks];
Pids& shared_pids() {
  void* const memory = ::mmap(nullptr, sizeof(Pids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return *static_cast<Pids*>(memory);
}

// Shows who is there, and tells of the first wait of an operation.
class Board final : public core::RankLine {
 public:
  Board(Pids& pids, int rank, const Post& post) : pids_(pids), post_(post) { pids_[rank] = ::getpid(); }

  void expect_wait() { expects_wait_ = true; }
  // Once for each operation, though nothing may have waited.
  void tell_wait() {
    if (expects_wait_.exchange(false)) post_.tell("waits");
  }

  int begin_wait(const board::WaitInfo&, base::TimePoint) noexcept override {
    tell_wait();
    return 0;
  }
  void end_wait(int) noexcept override {}
  void note(board::WaitKind, std::string_view, int, std::uint64_t) noexcept override {}
  void progress() noexcept override {}
  std::optional<board::Shown> look_at(int rank) const override {
    if (rank < 0 || rank >= kRanks || pids_[rank] == 0) return std::nullopt;
    board::Shown shown;
    shown.pid = pids_[rank];
    shown.phase = wire::Phase::Body;
    return shown;
  }

 private:
  Pids& pids_;
  const Post& post_;
  std::atomic<bool> expects_wait_{false};
};

// "because of 2, disconnected: ..."
std::string came_of(const Operation& operation) {
  try {
    operation();
  } catch (const Error& error) {
    return "because of " + std::to_string(error.because_of()) + ", " + base::name_of(error.kind()) + ": " +
           error.what();
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what();
  }
  return "done";
}

bool is_idle(const Case& tested, int rank) {
  return std::find(tested.idle.begin(), tested.idle.end(), rank) != tested.idle.end();
}

struct Cell {
  const Case& tested;
  std::string folder;

  void be_rank(int rank, const Post& post, Pids& pids) const {
    auto* const board = new Board(pids, rank, post);  // threads may show waits until the process ends
    core::process_rank_state().use(board);
    const Operation operation = tested.open(rank, folder);
    post.meet("ready");
    if (rank == kVictim) return static_cast<void>(post.wait());
    board->expect_wait();
    if (is_idle(tested, rank) || tested.is_struck_before) board->tell_wait();
    if (tested.is_struck_before) post.wait();
    if (!is_idle(tested, rank)) {
      post.tell(rpc::testing::timed("error", [&] {
        const std::string came = came_of(operation);
        if (came != "done") throw Error(ErrorKind::Failed, came);
      }));
    }
    board->tell_wait();
    if (!tested.is_struck_before) post.wait();
    post.meet("the end");
  }

  Lines conduct() const {
    Pids& pids = shared_pids();
    Company company(kRanks, kVictim, [&](int rank, const Post& post) { be_rank(rank, post, pids); });
    if (!company.meet("ready", true)) return company.told();
    if (tested.is_struck_before) strike(company);
    if (!company.meet("waits")) return company.told();
    if (!tested.is_struck_before) strike(company);
    company.meet("the end");
    return company.told();
  }

  static void strike(Company& company) {
    const pid_t pid = company.victim().pid();
    ::kill(pid, SIGKILL);
    company.victim().wait_struck();
    company.tell(std::to_string(kVictim) + "|pid|0|" + std::to_string(pid));
  }
};

std::string told_by(const Lines& lines, int rank, const std::string& phase) {
  const std::string prefix = std::to_string(rank) + "|" + phase + "|";
  const auto found =
      std::find_if(lines.begin(), lines.end(), [&](const std::string& each) { return each.starts_with(prefix); });
  return found != lines.end() ? found->substr(2) : "";
}

void check_survivor(const Case& tested, const Lines& lines, int rank) {
  const std::string pid = rpc::testing::timed_of(told_by(lines, kVictim, "pid")).text;
  const auto came = rpc::testing::timed_of(told_by(lines, rank, "error"));
  INFO("rank " << rank << " after the death of process " << pid << ": " << came.text);
  const std::string who = (tested.names_ranks ? "rank " : "worker") + std::to_string(kVictim);
  CHECK_THAT(came.text, Catch::Contains("because of " + std::to_string(kVictim) + ","));
  CHECK_THAT(came.text, Catch::Contains(who) && Catch::Contains("process " + pid));
  CHECK_THAT(came.text, !Catch::Contains("timeout") && !Catch::Contains("timed out"));
  for (int other = 0; other < kRanks; ++other) {
    const std::string its = tested.names_ranks ? "rank " : "worker";
    if (other != kVictim) CHECK_THAT(came.text, !Catch::Contains(its + std::to_string(other) + " is gone"));
  }
  CHECK(came.seconds < std::chrono::duration<double>(kBound).count());
}

}  // namespace

// For the rest of the rank's process.
Case across_hosts(Case tested) {
  tested.open = [open = std::move(tested.open)](int rank, const std::string& folder) {
    ::setenv("DISTRUN_HOSTS", "a=0-1;b=2-3", 1);
    ::setenv("DISTRUN_HOST_ADDRESS", rank < 2 ? "127.0.0.1" : "127.0.0.2", 1);
    core::set_rank_of_process(rank);
    return open(rank, folder);
  };
  return tested;
}

void check(const std::vector<Case>& cases) {
  const Scratch scratch;
  std::vector<Cell> cells;
  for (const Case& each : cases) cells.push_back({each, scratch.directory(std::to_string(cells.size()))});
  std::vector<std::function<Lines()>> runs;
  for (const Cell& each : cells) runs.emplace_back([&each] { return each.conduct(); });
  const std::vector<Lines> told = rpc::testing::conduct(runs, kAtOnce);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::string all;
    for (const std::string& each : told[i]) all += "\n  " + each;
    INFO(cases[i].name << "; all lines:" << all);
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank != kVictim && !is_idle(cases[i], rank)) check_survivor(cases[i], told[i], rank);
    }
  }
}

}  // namespace distrun::testing::deaths
