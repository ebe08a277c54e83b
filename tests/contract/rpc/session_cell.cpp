#include "session_cell.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "struck_agent.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

double seconds(base::Nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }
std::string name(int rank) { return "worker" + std::to_string(rank); }

// Calls that wait in this process until all have arrived; then the rank is struck.
struct Held {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;

  bool wait(int wanted) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kPatience, [&] { return count >= wanted; });
  }
};
Held& held() {
  static auto* const held = new Held;
  return *held;
}

int echo(int number) { return number; }
DISTRUN_RPC(echo)

int hold() {
  std::unique_lock lock(held().mutex);
  ++held().count;
  held().changed.notify_all();
  held().changed.wait_for(lock, kPatience, [] { return false; });
  return 0;
}
DISTRUN_RPC(hold)

void ask(int rank, base::Nanoseconds limit) {
  if (rpc_sync(to(name(rank)).within(limit), echo, 7) != 7) throw Error(ErrorKind::Failed, "the answer is wrong");
}

}  // namespace

base::Nanoseconds SessionCell::call_limit() const { return row.fault == Fault::Stops ? kCallTimeout : kPatience; }

void SessionCell::strike() const {
  if (row.fault == Fault::Dies) ::raise(SIGKILL);
  if (row.fault == Fault::Stops) ::raise(SIGSTOP);
  if (row.fault == Fault::Leaves) rpc::shutdown({.graceful = false});
  std::_Exit(5);
}

void SessionCell::init(int rank) const {
  const bool is_victim = rank == victim;
  auto options = std::make_shared<PipeOptions>();
  options->init_timeout = seconds(kInitTimeout);
  options->rpc_timeout = seconds(call_limit());
  if (!transport.empty()) options->transports = {transport};
  options->store = std::make_shared<FileStore>(folder + "/store");
  InitOptions init{name(rank), struck_backend(), rank, kRanks, options};
  if (is_victim) {
    if (row.fault == Fault::SameName) init.name = name((rank + 1) % kRanks);
    if (row.fault == Fault::SameRank) init.rank = (rank + 1) % kRanks;
    if (row.fault == Fault::LargerWorldFirst || row.fault == Fault::LargerWorldLast) init.world_size = kRanks + 1;
  }
  init_rpc(init);
}

// Actions of the victim before it begins.
void SessionCell::prepare() const {
  if (row.fault == Fault::NobodyAtAddress) script().address = "uds:distrun-test-nobody-" + std::to_string(::getpid());
  if (row.fault == Fault::NoAddress) script().address = "somewhere";
  if (is_misled()) return;
  script().reach = [this](Step step) {
    if (row.moment == Moment::Init && step == Step::Make) strike();
    if (row.moment == Moment::Known && step == Step::AddWorker) strike();
  };
}

void SessionCell::greet(int rank) const {
  for (int other = 0; other < kRanks; ++other) {
    if (other != rank) ask(other, kPatience);
  }
}

void SessionCell::shut_down(bool is_victim) const {
  SessionHooks hooks;
  if (is_victim && row.moment == Moment::Met) hooks.delete_references = [this] { strike(); };
  const UseHooks use(std::move(hooks));
  if (is_victim && row.moment == Moment::Shutdown) strike();
  rpc::shutdown({.graceful = true, .timeout = seconds(kShutdownTimeout)});
}

void SessionCell::be_victim(const Post& post) const {
  prepare();
  if (what_comes_of([&] { init(victim); }) != "done") return;
  if (row.moment >= Moment::Idle) greet(victim);
  post.meet("at init");
  if (row.moment == Moment::Unmet || row.moment == Moment::Idle) strike();
  if (row.moment == Moment::Call) {
    held().wait(kRanks - 1);
    strike();
  }
  if (is_misled()) post.meet("at calls");
  what_comes_of([&] { shut_down(true); });
}

void SessionCell::be_other(int rank, const Post& post) const {
  const std::string came = timed("init", [&] { init(rank); });
  post.tell(came);
  if (timed_of(came).text != "done") return;
  if (row.moment >= Moment::Idle) greet(rank);
  post.meet("at init");
  call_and_shut_down(rank, post);
}

// The victim acts like the others until it is struck, but waits for no rank.
void SessionCell::be_any(int rank, const Post& post) const {
  std::atomic<int> left = struck_at;
  if (rank == victim) {
    script().reach = [&](Step) {
      if (left.fetch_sub(1) == 0) strike();
    };
  }
  const std::string came = timed("init", [&] { init(rank); });
  post.tell(came);
  if (timed_of(came).text != "done") return;
  if (rank == victim) {
    what_comes_of([&] { greet(rank); });
    what_comes_of([&] { shut_down(true); });
    return;
  }
  call_and_shut_down(rank, post);
}

// The rank stays until all others have made their calls, no matter what its own return.
void SessionCell::call_and_shut_down(int rank, const Post& post) const {
  if (row.call.ends != Ends::NotReached) {
    const base::Nanoseconds limit = call_limit();
    post.tell(timed("call", [&] {
      row.moment == Moment::Call ? void(rpc_sync(to(name(victim)).within(limit), hold)) : ask(victim, limit);
    }));
    int other = (rank + 1) % kRanks;
    if (other == victim) other = (other + 1) % kRanks;
    post.tell(timed("other", [&] { ask(other, kPatience); }));
  }
  post.meet("at calls");
  post.tell(timed("shutdown", [&] { shut_down(false); }));
}

void SessionCell::wait_for_world_size() const {
  FileStore(folder + "/store").wait({"rpc/round0/world_size"}, kPatience);
}

Lines SessionCell::conduct() const {
  Lines told;
  std::array<std::unique_ptr<Member>, kRanks> members;
  const auto start = [&](int rank) {
    members[static_cast<std::size_t>(rank)] = std::make_unique<Member>([&](const Post& post) {
      struck_at >= 0 ? be_any(rank, post) : rank == victim ? be_victim(post) : be_other(rank, post);
    });
  };
  const auto others = [&](auto visit) {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank != victim) visit(rank);
    }
  };
  const auto all_come_to = [&](const char* point) {
    bool have_come = true;
    others([&](int rank) {
      auto& member = *members[static_cast<std::size_t>(rank)];
      have_come &= member.lines_up_to(point, std::to_string(rank) + "|", told);
    });
    return have_come;
  };
  const auto let_others_go = [&] { others([&](int rank) { members[static_cast<std::size_t>(rank)]->go_on(); }); };

  if (row.fault == Fault::LargerWorldFirst) start(victim), wait_for_world_size();
  others(start);
  if (row.fault == Fault::LargerWorldLast) wait_for_world_size();
  std::unique_ptr<Member>& struck = members[static_cast<std::size_t>(victim)];
  if (struck == nullptr && row.fault != Fault::NeverStarts) start(victim);
  if (struck_at >= 0) {
    if (all_come_to("at calls")) let_others_go(), all_come_to("the end");
    return told;
  }
  if (!all_come_to("at init")) return told;

  Lines of_victim;
  if (row.moment >= Moment::Unmet || is_misled()) struck->lines_up_to("at init", "", of_victim), struck->go_on();
  const bool strikes_now = row.moment == Moment::Unmet || row.moment == Moment::Idle;
  if ((strikes_now || row.moment == Moment::Known) && !is_misled()) struck->wait_struck();
  let_others_go();
  if (!all_come_to("at calls")) return told;
  if (is_misled()) struck->lines_up_to("at calls", "", of_victim), struck->go_on();
  let_others_go();
  all_come_to("the end");
  return told;
}

}  // namespace distrun::rpc::testing
