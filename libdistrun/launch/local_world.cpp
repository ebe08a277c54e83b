#include <distrun/launch/local_world.hpp>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include <distrun/base/check.hpp>
#include <distrun/base/error.hpp>
#include <distrun/proc/pidfd.hpp>
#include <distrun/proc/process_tree.hpp>

namespace distrun::launch {

LocalWorld::LocalWorld(io::Loop& loop, WorldEvents& events, Options options)
    : loop_(loop), events_(events), options_(std::move(options)),
      members_(static_cast<std::size_t>(options_.world_size)) {}

LocalWorld::~LocalWorld() {
  for (Member& member : members_) {
    if (member.pid == 0 || member.ended) continue;
    ::kill(-member.pid, SIGKILL);
    ::kill(member.pid, SIGKILL);
  }
  // Reaping is the node's: a rank in D state would block us here.
}

RankEnds LocalWorld::make_rank() {
  const int rank = made_++;
  base::FdPair control = base::make_socket_pair(SOCK_STREAM);
  base::FdPair out = base::make_pipe();
  base::FdPair err = base::make_pipe();
  Member& member = at(rank);
  member.connection = std::move(control.first);
  member.out = std::make_unique<OutputPipe>(loop_, std::move(out.first), options_.output_cap);
  member.err = std::make_unique<OutputPipe>(loop_, std::move(err.first), options_.output_cap);
  return {std::move(control.second), std::move(out.second), std::move(err.second)};
}

void LocalWorld::started(int rank, pid_t pid) {
  Member& member = at(rank);
  member.pid = pid;
  // Heard only now: a rank says hello before the zygote has told its pid, and no order may reach it before
  // it is known to be our child.
  member.socket = std::make_unique<io::FrameSocket>(
      loop_, std::move(member.connection),
      io::FrameSocket::Handlers{
          [this, rank](const wire::Frame& frame) { on_frame(rank, frame); },
          [this, rank](const std::string& why) {
            if (!at(rank).ended) events_.on_connection_lost(rank, why);
          }});
  member.death = std::make_unique<io::FdWatch>(loop_, proc::open_pidfd(pid), [this, rank] { on_death(rank); });
  events_.on_rank_started(rank, pid);
}

void LocalWorld::spawn_failed(const std::string& why) { events_.on_spawn_failed(why); }

void LocalWorld::on_death(int rank) {
  Member& member = at(rank);
  const auto status = proc::try_reap(member.pid);
  if (!status) return;
  // Its last words, told before its death. Read after the reaping, not before: a watch may wake for nothing, and the
  // rank may then speak and end between a read and the reaping.
  member.socket->drain();
  member.ended = true;
  member.death.reset();
  events_.on_rank_ended(rank, *status);
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
  if (member.pid != 0 && !member.ended) member.socket->send(std::move(packed));
}

void LocalWorld::signal(int rank, int signal) {
  const Member& member = at(rank);
  if (member.pid == 0 || member.ended) return;
  // Both: the rank may have left its group, and others may be in it.
  ::kill(-member.pid, signal);
  ::kill(member.pid, signal);
}

std::optional<board::Shown> LocalWorld::shown(int rank) const {
  if (!board_) return std::nullopt;
  return board::read(board_->slot(rank), board_->world_size());
}

void LocalWorld::on_frame(int rank, const wire::Frame& frame) {
  if (frame.kind != wire::FrameKind::Stacks) return events_.on_frame(rank, frame);
  try {
    auto raw = wire::decode<wire::RawStacks>(wire::view_of(frame.payload));
    if (collector_) collector_->on_raw(rank, std::move(raw));
  } catch (const Error& error) {
    events_.on_connection_lost(rank, std::string("it sent what are no stacks: ") + error.what());
  }
}

bool LocalWorld::ask_for_stacks(int rank) {
  try {
    send(rank, wire::pack_frame(wire::FrameKind::DumpStacks, static_cast<std::uint16_t>(rank), {}));
    return !at(rank).ended && !at(rank).socket->closed();
  } catch (const Error&) {
    return false;  // it does not read
  }
}

// A second tracer would be refused, so whoever asks while a collection goes on gets what that brings.
void LocalWorld::collect_stacks(const StackOrder& order, OnStacks on_stacks) {
  waiting_for_stacks_.push_back(std::move(on_stacks));
  if (collector_) return;
  std::vector<StackCollector::Target> targets;
  for (int rank = 0; rank < made_; ++rank) {
    if (at(rank).pid != 0 && !at(rank).ended) targets.push_back({rank, at(rank).pid});
  }
  collector_ = std::make_unique<StackCollector>(
      loop_, options_.probe, std::move(targets), order, [this](int rank) { return ask_for_stacks(rank); },
      [weak = weak_from_this()](const evidence::Stacks& stacks) {
        if (const auto alive = weak.lock()) alive->on_collected(stacks);
      });
}

void LocalWorld::on_collected(const evidence::Stacks& stacks) {
  collector_.reset();
  const std::vector<OnStacks> waiting = std::exchange(waiting_for_stacks_, {});
  for (const OnStacks& on_stacks : waiting) on_stacks(stacks);
}

std::optional<board::Dump> LocalWorld::crash(int rank) const {
  if (!board_) return std::nullopt;
  return board::read(board_->slot(rank).crash);
}

void LocalWorld::name_stacks(std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds bound,
                             OnStacks on_stacks) {
  wire::ProbeOrder order;
  std::vector<int> ranks;
  for (auto& [rank, raw] : by_rank) {
    ranks.push_back(rank);
    order.raw.push_back(std::move(raw));
  }
  naming_.push_back(std::make_unique<Probe>(
      loop_, options_.probe, order, bound, [ranks, on_stacks = std::move(on_stacks)](ProbeResult result) {
        for (evidence::Process& process : result.stacks.processes) {
          const auto index = static_cast<std::size_t>(process.index);
          if (index < ranks.size()) process.rank = ranks[index];
          process.sources.push_back({"crash handler", true, result.error});
        }
        on_stacks(std::move(result.stacks));
      }));
}

bool LocalWorld::is_from_ranks(int pid) const { return proc::tag_of(pid) == options_.tag; }

proc::Captured LocalWorld::standard_output(int rank) const { return at(rank).out->capture().captured(); }
proc::Captured LocalWorld::standard_error(int rank) const { return at(rank).err->capture().captured(); }

void LocalWorld::finish_output() {
  for (int rank = 0; rank < made_; ++rank) {
    at(rank).out->drain();
    at(rank).err->drain();
  }
}

bool LocalWorld::is_leftover(pid_t pid) const { return !owns(pid) && !options_.is_foreign(pid); }

std::vector<std::string> LocalWorld::leftovers() {
  constexpr int kPasses = 100;
  std::vector<std::string> found;
  // Again while there was anything: a process that has just ended may have left a child, which became ours after
  // the list was read.
  for (int pass = 0; pass < kPasses && found.empty(); ++pass) {
    bool any = false;
    for (const pid_t pid : proc::own_children()) {
      if (!is_leftover(pid)) continue;
      any = true;
      const bool gone = proc::is_zombie(pid) && proc::try_reap(pid).has_value();
      if (!gone) found.push_back(proc::describe_process(pid));
    }
    if (!any) break;
  }
  return found;
}

int LocalWorld::end_leftovers() {
  constexpr int kRounds = 5;
  std::vector<pid_t> left;
  proc::end_children([this](pid_t pid) { return is_leftover(pid); }, kRounds, left);
  return static_cast<int>(left.size());
}

}  // namespace distrun::launch
