#include <distrun/launch/local_world.hpp>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <utility>

#include <distrun/base/check.hpp>
#include <distrun/proc/pidfd.hpp>
#include <distrun/proc/process_tree.hpp>

namespace distrun::launch {
LocalWorld::LocalWorld(io::Loop& loop, WorldEvents& events, int world_size, std::size_t output_cap,
                       std::uint64_t tag, std::function<bool(pid_t)> is_foreign)
    : loop_(loop), events_(events), output_cap_(output_cap), tag_(tag), is_foreign_(std::move(is_foreign)),
      members_(static_cast<std::size_t>(world_size)) {}

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
  member.out = std::make_unique<OutputPipe>(loop_, std::move(out.first), output_cap_);
  member.err = std::make_unique<OutputPipe>(loop_, std::move(err.first), output_cap_);
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
          [this, rank](const wire::Frame& frame) { events_.on_frame(rank, frame); },
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
  return false;
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

proc::Captured LocalWorld::standard_output(int rank) const { return at(rank).out->capture().captured(); }
proc::Captured LocalWorld::standard_error(int rank) const { return at(rank).err->capture().captured(); }

void LocalWorld::finish_output() {
  for (int rank = 0; rank < made_; ++rank) {
    at(rank).out->drain();
    at(rank).err->drain();
  }
}

bool LocalWorld::is_leftover(pid_t pid) const { return !owns(pid) && !is_foreign_(pid); }

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
