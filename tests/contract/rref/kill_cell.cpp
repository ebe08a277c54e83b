#include "kill_cell.hpp"

#include <poll.h>

#include <atomic>
#include <csignal>
#include <limits>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/rref/references.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "../rpc/open_things.hpp"
#include "../rpc/struck_agent.hpp"

namespace distrun::rref::testing {
namespace {

using namespace std::chrono_literals;
using rpc::testing::kPatience;
using rpc::testing::timed;

constexpr int kErrorsMax = 6;  // after this many errors the rank's storm is over

double seconds(base::Nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

std::int64_t storm_ask(const RRef<Canary>& given) { return given.to_here()->number(); }
DISTRUN_RPC(storm_ask)

void greet(int rank) {
  for (int other = 0; other < kKillRanks; ++other) {
    if (other == rank) continue;
    const auto whom = rpc::Destination(other).within(seconds(kPatience));  // none is stopped yet
    (void)remote<Canary>(whom, "StormCanary", std::int64_t{other}).to_here(seconds(kPatience));
  }
}

void leave() { rpc::shutdown({.graceful = false}); }

}  // namespace

void KillCell::init(int rank, const char* part) const {
  auto options = std::make_shared<rpc::PipeOptions>();
  options->transports = {"shm"};
  options->init_timeout = seconds(kPatience);
  options->rpc_timeout = seconds(is_stopped ? kStoppedCall : kPatience);
  options->store = std::make_shared<PrefixStore>(part, std::make_shared<FileStore>(folder + "/store"));
  rpc::init_rpc({"worker" + std::to_string(rank), rpc::testing::struck_backend(), rank, kKillRanks, options});
}

// Strikes at the given step of its agent; if the storm is over before, at its end.
void KillCell::be_victim(const Post& post) const {
  // Created before the threads that read it, and never destroyed.
  static auto& left = *new std::atomic<int>(std::numeric_limits<int>::max());
  const auto strike = [this] { ::raise(is_stopped ? SIGSTOP : SIGKILL); };
  rpc::testing::script().reach = [strike](rpc::testing::Step) {
    if (left.fetch_sub(1) == 0) strike();
  };
  init(victim, "warm");
  post.meet("at warm");
  leave();
  init(victim, "cell");
  greet(victim);
  {
    Storm storm({kKillRanks, seed, references},
                [](const char*, const std::function<void()>& part) { return rpc::testing::what_comes_of(part), true; });
    post.meet("at storm");
    left.store(struck_at);
    storm.run();
    if (left.exchange(-1) >= 0) strike();
    rpc::testing::what_comes_of([] { rpc::shutdown({.graceful = true, .timeout = 1}); });
  }
}

void KillCell::be_survivor(int rank, const Post& post) const {
  init(rank, "warm");
  greet(rank);
  post.meet("at warm");
  leave();
  const auto before = rpc::testing::settled_open();
  live(rank, post);
  const auto after = rpc::testing::what_is_open(before);
  post.tell("open|0|" + (after <= before ? "done" : after.text() + "; before: " + before.text()));
}

void KillCell::live(int rank, const Post& post) const {
  init(rank, "cell");
  greet(rank);
  int errors = 0;
  Storm storm({kKillRanks, seed, references}, [&](const char* what, const std::function<void()>& part) {
    const std::string line = timed(what, part);
    const auto came = rpc::testing::timed_of(line);
    const bool is_well = came.text == "done";
    if (!is_well || came.seconds > 0.5) post.tell(line);
    errors += is_well ? 0 : 1;
    return errors < kErrorsMax;
  });
  post.meet("at storm");
  storm.run();
  post.meet("at end of storm");
  use_new(rank, post);
  post.meet("at news");
  use_old(storm, post);
  if (!is_stopped) look(post);
  post.meet("at shutdown");
  post.tell(timed("shutdown", [&] {
    rpc::shutdown({.graceful = is_graceful, .timeout = seconds(kKillShutdown), .ignore_leaks = true});
  }));
}

// References between survivors still work.
void KillCell::use_new(int rank, const Post& post) const {
  post.tell(timed("new", [&] {
    const RRef<Canary> here(std::make_shared<Canary>(7));
    for (int other = 0; other < kKillRanks; ++other) {
      if (other == rank || other == victim) continue;
      const auto whom = rpc::Destination(other).within(seconds(kPatience));
      if (rpc_sync(whom, storm_ask, here) != 7) throw Error(ErrorKind::Failed, "the value is wrong");
      const auto there = remote<Canary>(whom, "StormCanary", std::int64_t{8});
      const int third = 6 - rank - other - victim;
      if (rpc_sync(rpc::Destination(third).within(seconds(kPatience)), storm_ask, there) != 8) {
        throw Error(ErrorKind::Failed, "the value that was made there is wrong");
      }
    }
  }));
}

// If a survivor has confirmed that it knows a reference, its value must exist; otherwise the survivor may have learnt
// of the reference too late. The same holds for a value of this rank that only the victim held and had sent back.
void KillCell::use_old(const Storm& storm, const Post& post) const {
  for (const Known& each : storm.held()) {
    if (each.ref.owner().id() == victim) continue;
    const bool was_confirmed = each.ref.confirmed_by_owner() && !each.ref.is_owner();
    const std::string line = timed(was_confirmed ? "confirmed" : "pending", [&] {
      if (each.ref.to_here(seconds(kPatience))->number() != each.number) {
        throw Error(ErrorKind::Failed, "the value is wrong");
      }
    });
    if (rpc::testing::timed_of(line).text != "done") post.tell(line);
  }
}

// The ledger has the loss, and nothing waits for the victim.
void KillCell::look(const Post& post) const {
  const auto what_is_wrong = [this] {
    for (const auto& [key, value] : debug_info()) {
      if (key.starts_with("num_pending") && value != "0") return key + " is " + value;
    }
    const ledger::Page page = current_references()->page(1000);
    for (const auto& row : page.held_rows) {
      if (row.owner == victim && row.state != "failed" && row.state != "timed out") {
        return "a reference to a value of worker" + std::to_string(victim) + " is " + row.state;
      }
    }
    for (const auto& row : page.owned_rows) {
      for (const auto& holder : row.holders) {
        if (holder.worker == victim)
          return "worker" + std::to_string(victim) + " is said to hold " + to_string(row.rref);
      }
    }
    return std::string("done");
  };
  std::string wrong = what_is_wrong();
  for (const base::TimePoint until = rpc::testing::in(5s); wrong != "done" && base::system_clock().now() < until;) {
    (void)::poll(nullptr, 0, 5);
    wrong = what_is_wrong();
  }
  post.tell("ledger|0|" + wrong);
}

Lines KillCell::conduct() const {
  rpc::testing::Company company(kKillRanks, victim, [this](int rank, const Post& post) {
    rank == victim ? be_victim(post) : be_survivor(rank, post);
  });
  const auto go = [&] {
    if (!company.meet("at warm", true) || !company.meet("at storm", true) || !company.meet("at end of storm")) return;
    if (!company.victim().wait_struck()) company.tell("0|parent|0|the victim was not struck");
    if (!company.meet("at news")) return;
    if (is_stopped) ::kill(company.victim().pid(), SIGCONT);
    if (company.meet("at shutdown")) company.hear_out();
  };
  go();
  return company.told();
}

}  // namespace distrun::rref::testing
