#include <distrun/runner/launch/local_world.hpp>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/board/body_life.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>
#include <distrun/runner/proc/tracees.hpp>

namespace distrun::launch {
namespace {

constexpr auto kBodiesPause = std::chrono::milliseconds(100);
constexpr int kStraySights = 10;
constexpr const char* kBodyIsOver =
    "the thread of its body ended without a result; it called pthread_exit(), or a system call filter killed it";

}  // namespace

LocalWorld::LocalWorld(io::Loop& loop, WorldEvents& events, Options options)
    : loop_(loop),
      events_(events),
      options_(std::move(options)),
      members_(options_.threads ? 1 : static_cast<std::size_t>(options_.world_size)),
      bodies_over_(static_cast<std::size_t>(options_.world_size)),
      strays_seen_(static_cast<std::size_t>(options_.world_size)),
      bodies_(loop, [this] { look_for_lost_bodies(); }) {}

LocalWorld::~LocalWorld() {
  for (Member& member : members_) {
    if (member.pid == 0 || member.ended) continue;
    ::kill(-member.pid, SIGKILL);
    ::kill(member.pid, SIGKILL);
  }
  // Reaping is left to the node: a rank in state D would block us here.
}

std::vector<int> LocalWorld::ranks_of(int member) const {
  if (!options_.threads) return {member};
  std::vector<int> all(static_cast<std::size_t>(options_.world_size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

RankEnds LocalWorld::make_member() {
  base::FdPair control = base::make_socket_pair(SOCK_STREAM);
  base::FdPair out = base::make_pipe();
  base::FdPair err = base::make_pipe();
  auto out_pipe = std::make_unique<OutputPipe>(loop_, std::move(out.first), options_.output_cap);
  auto err_pipe = std::make_unique<OutputPipe>(loop_, std::move(err.first), options_.output_cap);
  Member& member = this->member(made_++);  // all or nothing
  member.connection = std::move(control.first);
  member.out = std::move(out_pipe);
  member.err = std::move(err_pipe);
  if (options_.program) follow_output(made_ - 1);
  return {std::move(control.second), std::move(out.second), std::move(err.second)};
}

void LocalWorld::follow_output(int index) {
  const auto tell = [this, index](Stream stream) {
    return [this, index, stream](std::string_view bytes) { events_.on_output(index, stream, bytes); };
  };
  member(index).out->follow(tell(Stream::Out));
  member(index).err->follow(tell(Stream::Err));
}

void LocalWorld::started(int index, pid_t pid) {
  Member& member = this->member(index);
  member.pid = pid;
  try {
    watch(index);
  } catch (const Error& error) {
    return end_unwatched(member, error.what());
  }
  for (const int rank : ranks_of(index)) events_.on_rank_started(rank, pid);
}

void LocalWorld::watch(int index) {
  Member& member = this->member(index);
  auto death = std::make_unique<io::FdWatch>(loop_, proc::open_pidfd(member.pid), [this, index] { on_death(index); });
  // Listen only now: a rank says hello before the zygote has sent its pid, and must get no order before that.
  member.socket = std::make_unique<io::FrameSocket>(
      loop_, std::move(member.connection), wire::kProtocol<wire::ControlFrame>,
      io::FrameSocket::Handlers{[this, index](const wire::Frame& frame) { on_frame(index, frame); },
                                [this, index](const std::string& why) { on_lost(index, why); }});
  member.death = std::move(death);
  if (board_) bodies_.set(loop_.clock().now() + kBodiesPause);
}

// Its end would go unnoticed, so the fresh process is ended now. The failure is reported later, when no other rank is
// about to start.
void LocalWorld::end_unwatched(Member& member, const std::string& why) {
  ::kill(-member.pid, SIGKILL);
  ::kill(member.pid, SIGKILL);
  ::waitpid(member.pid, nullptr, 0);  // bounded by SIGKILL: a fresh rank does no I/O that could block it
  member.ended = true;
  loop_.post([weak = weak_from_this(), why] {
    if (const auto alive = weak.lock()) alive->spawn_failed(why);
  });
}

// Checks two words of the board for each rank. Nothing else shows that a body's thread has ended without its process,
// or that a child has done the rank's work while the rank waits.
void LocalWorld::look_for_lost_bodies() {
  const std::shared_ptr<LocalWorld> self = shared_from_this();  // a callback may release it
  const bool alive = std::any_of(members_.begin(), members_.end(),
                                 [](const Member& member) { return member.pid != 0 && !member.ended; });
  if (!alive) return;
  bodies_.set(loop_.clock().now() + kBodiesPause);
  for (int rank = 0; rank < options_.world_size; ++rank) {
    if (at(rank).ended) continue;
    look_for_stray_child(rank);
    look_for_lost_body(rank);
  }
}

// Gives the rank a while to end by itself, which is more informative.
void LocalWorld::look_for_stray_child(int rank) {
  if (board_->slot(rank).stray_child.load(std::memory_order_relaxed) == 0) return;
  if (++strays_seen_[static_cast<std::size_t>(rank)] >= kStraySights) events_.on_stray_child(rank);
}

// Reported the second time it is seen: a process that is ending briefly looks the same.
void LocalWorld::look_for_lost_body(int rank) {
  const Member& member = at(rank);
  if (!member.socket || member.ended || member.socket->closed()) return;  // a closed connection has been reported
  if (!board::body_life(board_->slot(rank)).is_over()) return;
  int& seen = bodies_over_[static_cast<std::size_t>(rank)];
  if (seen > 1 || proc::is_ending(member.pid) || ++seen < 2) return;
  events_.on_connection_lost(rank, kBodyIsOver);
}

void LocalWorld::on_lost(int index, const std::string& why) {
  if (member(index).ended) return;
  // The connection closes when the process becomes its program.
  if (options_.program && why == "closed") return events_.on_program(index);
  for (const int rank : ranks_of(index)) events_.on_connection_lost(rank, why);
}

void LocalWorld::spawn_failed(const std::string& why) { events_.on_spawn_failed(why); }

void LocalWorld::on_death(int index) {
  Member& member = this->member(index);
  const auto status = proc::try_reap(member.pid);
  if (!status) return;
  // Deliver its last frames before its death. Read after reaping, not before: a watch may wake up spuriously, and the
  // rank may then send and end between a read and the reaping.
  member.socket->drain();
  member.ended = true;
  member.death.reset();
  const End end = options_.threads ? end_of(*status) : End{-1, *status};
  if (end.rank >= 0) events_.on_rank_ended(end.rank, end.status, -1);
  for (const int rank : ranks_of(index)) {
    if (rank != end.rank) events_.on_rank_ended(rank, *status, end.rank);
  }
}

// Finds the rank that has ended the process. Another rank's crash after exit() follows from what exit handlers have
// destroyed.
LocalWorld::End LocalWorld::end_of(proc::ExitStatus status) const {
  End crashed;
  End left;
  bool has_dump = false;
  for (int rank = 0; rank < options_.world_size; ++rank) {
    const auto dump = crash(rank);
    const bool fits = dump && status.signaled() && dump->signal == status.signal();
    has_dump = has_dump || fits;
    if (fits && dump->rank == rank) crashed = {rank, status};
    const auto seen = shown(rank);
    const bool says_where = dump && dump->signal == 0;  // if several ranks left, this one was the first
    const bool has_left = seen && seen->leaving_with;
    if (has_left && (left.rank < 0 || says_where)) left = {rank, proc::ExitStatus::of_code(*seen->leaving_with)};
  }
  if (left.rank < 0 || crashed.rank == left.rank) return crashed;
  if (status.exited()) return {left.rank, status};
  return has_dump ? left : End{-1, status};
}

bool LocalWorld::owns(pid_t pid) const noexcept {
  for (const Member& member : members_) {
    if (member.pid == pid && !member.ended) return true;
  }
  if (collector_ && collector_->probe_pid() == pid) return true;
  return std::any_of(naming_.begin(), naming_.end(), [pid](const auto& probe) { return probe->pid() == pid; });
}

void LocalWorld::send(int rank, wire::Bytes packed) {
  Member& member = at(rank);
  if (member.socket && !member.ended) member.socket->send(std::move(packed));
}

void LocalWorld::signal(int rank, int signal) {
  const Member& member = at(rank);
  if (member.pid == 0 || member.ended) return;
  // A rank may have left its group, or not created it yet. If it is in the group, do not signal it twice: a program
  // that cleans up on the first signal may give up on the second.
  const bool has_group = ::kill(-member.pid, signal) == 0;
  if (!has_group || ::getpgid(member.pid) != member.pid) ::kill(member.pid, signal);
}

void LocalWorld::signal_process(int rank, int signal) {
  const Member& member = at(rank);
  if (member.pid != 0 && !member.ended) ::kill(member.pid, signal);
}

std::optional<board::Shown> LocalWorld::shown(int rank) const {
  if (!board_) return std::nullopt;
  return board::read(board_->slot(rank), board_->world_size());
}

void LocalWorld::on_frame(int index, const wire::Frame& frame) {
  if (frame.is(wire::ControlFrame::Stacks)) return take_stacks(index, frame);
  if (!options_.threads) return events_.on_frame(index, frame);
  if (frame.is(wire::ControlFrame::Hello)) {  // one for all ranks
    for (const int rank : ranks_of(index)) events_.on_frame(rank, frame);
  } else if (frame.rank < options_.world_size) {
    events_.on_frame(frame.rank, frame);
  } else {
    on_lost(index, "it sent a frame of rank " + std::to_string(frame.rank));
  }
}

void LocalWorld::take_stacks(int index, const wire::Frame& frame) {
  try {
    auto raw = wire::decode<wire::RawStacks>(wire::view_of(frame.payload));
    if (collector_) collector_->on_raw(index, std::move(raw));
  } catch (const Error& error) {
    on_lost(index, std::string("it sent invalid stacks: ") + error.what());
  }
}

bool LocalWorld::ask_for_stacks(int rank) {
  try {
    send(rank, wire::pack_frame(wire::ControlFrame::DumpStacks, static_cast<std::uint16_t>(rank), {}));
    return !at(rank).ended && !at(rank).socket->closed();
  } catch (const Error&) {
    return false;  // it does not read
  }
}

// A second tracer would be refused, so requests during a collection share its result.
void LocalWorld::collect_stacks(const StackOrder& order, OnStacks on_stacks) {
  waiting_for_stacks_.push_back(std::move(on_stacks));
  if (collector_) return;
  std::vector<StackCollector::Target> targets;
  for (int index = 0; index < made_; ++index) {
    if (member(index).pid == 0 || member(index).ended) continue;
    proc::let_tracees_go(member(index).pid);  // a probe cannot trace what we trace
    targets.push_back({index, member(index).pid});
  }
  collector_ = std::make_unique<StackCollector>(
      loop_, options_.probe, std::move(targets), order, [this](int rank) { return ask_for_stacks(rank); },
      [weak = weak_from_this()](evidence::Stacks stacks) {
        if (const auto alive = weak.lock()) alive->on_collected(std::move(stacks));
      });
}

// Splits the stacks of the process that all ranks share: each rank gets the thread that runs its body according to the
// board; the other threads belong to the process.
void LocalWorld::tell_ranks_apart(evidence::Stacks& stacks) const {
  if (stacks.processes.empty()) return;
  evidence::Process common = std::move(stacks.processes.front());
  stacks.processes.clear();
  common.rank = -1;
  common.has_thread_ranks = true;
  for (int rank = 0; rank < options_.world_size; ++rank) {
    const auto seen = shown(rank);
    evidence::Process own = common;
    own.rank = rank;
    own.threads.clear();
    const auto is_own = [&](const wire::ThreadStack& thread) { return seen && thread.task.tid == seen->body_tid; };
    std::copy_if(common.threads.begin(), common.threads.end(), std::back_inserter(own.threads), is_own);
    std::erase_if(common.threads, is_own);
    stacks.processes.push_back(std::move(own));
  }
  stacks.processes.push_back(std::move(common));
}

void LocalWorld::on_collected(evidence::Stacks stacks) {
  collector_.reset();
  if (options_.threads) tell_ranks_apart(stacks);
  const std::vector<OnStacks> waiting = std::exchange(waiting_for_stacks_, {});
  for (const OnStacks& on_stacks : waiting) on_stacks(stacks);
}

std::optional<board::Dump> LocalWorld::crash(int rank) const {
  if (!board_) return std::nullopt;
  return board::read(board_->slot(rank).crash);
}

void LocalWorld::name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank,
                             base::Nanoseconds bound, OnStacks on_stacks) {
  wire::ProbeOrder order;
  std::vector<int> ranks;
  for (auto& [rank, raw] : by_rank) {
    ranks.push_back(rank);
    order.raw.push_back(std::move(raw));
  }
  naming_.push_back(std::make_unique<Probe>(loop_, options_.probe, order, bound,
                                            [source, ranks, on_stacks = std::move(on_stacks)](ProbeResult result) {
                                              for (evidence::Process& process : result.stacks.processes) {
                                                const auto index = static_cast<std::size_t>(process.index);
                                                if (index < ranks.size()) process.rank = ranks[index];
                                                process.sources.push_back({source, true, result.error});
                                              }
                                              on_stacks(std::move(result.stacks));
                                            }));
}

base::Nanoseconds LocalWorld::cpu_wait(int rank) const { return evidence::cpu_wait_of(at(rank).pid); }

bool LocalWorld::is_from_ranks(int pid) const { return proc::tag_of(pid) == options_.tag; }

// Output of threads of one process cannot be separated; it is shown with rank 0. A rank not created wrote nothing.
bool LocalWorld::has_output(int rank) const { return options_.threads ? rank == 0 && made_ > 0 : rank < made_; }

proc::Captured LocalWorld::standard_output(int rank) const {
  return has_output(rank) ? at(rank).out->capture().captured() : proc::Captured{};
}

proc::Captured LocalWorld::standard_error(int rank) const {
  return has_output(rank) ? at(rank).err->capture().captured() : proc::Captured{};
}

void LocalWorld::finish_output() {
  for (int index = 0; index < made_; ++index) {
    member(index).out->drain();
    member(index).err->drain();
  }
}

void LocalWorld::hold_output(bool hold) {
  for (int index = 0; index < made_; ++index) {
    member(index).out->hold(hold);
    member(index).err->hold(hold);
  }
}

void LocalWorld::forget_output() {
  for (int index = 0; index < made_; ++index) {
    member(index).out->forget();
    member(index).err->forget();
  }
}

bool LocalWorld::has_offspring() {
  const auto has_children = [](const Member& member) {
    return member.pid != 0 && !member.ended && proc::has_living_children(member.pid);
  };
  return std::any_of(members_.begin(), members_.end(), has_children) || !leftovers().empty();
}

bool LocalWorld::is_leftover(pid_t pid) const { return !owns(pid) && !options_.is_foreign(pid); }

std::vector<Leftover> LocalWorld::leftovers() {
  constexpr int kPasses = 100;
  std::vector<Leftover> found;
  // Repeat while anything was found: a process that has just ended may have left a child, which became ours after the
  // list was read.
  for (int pass = 0; pass < kPasses && found.empty(); ++pass) {
    bool any = false;
    for (const pid_t pid : proc::own_children()) {
      if (!is_leftover(pid)) continue;
      any = true;
      const bool gone = proc::is_zombie(pid) && proc::try_reap(pid).has_value();
      if (!gone) found.push_back({proc::describe_process(pid), proc::is_ending(pid), pid});
    }
    if (!any) break;
  }
  return found;
}

std::vector<base::HeldName> LocalWorld::held_by_leftovers(const std::vector<std::string>& directories) {
  std::vector<base::HeldName> held;
  for (const Leftover& leftover : leftovers()) {
    std::vector<base::HeldName> names = base::held_names(std::to_string(leftover.pid), directories);
    std::move(names.begin(), names.end(), std::back_inserter(held));
  }
  return held;
}

EndedLeftovers LocalWorld::end_leftovers() {
  constexpr int kRounds = 5;
  proc::Endings endings = proc::end_children([this](pid_t pid) { return is_leftover(pid); }, kRounds);
  return {std::move(endings.named), static_cast<int>(endings.left.size())};
}

}  // namespace distrun::launch
