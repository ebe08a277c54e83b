#include <distrun/runner/nodes/mirror.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

void check(bool is_good, const char* what) {
  if (!is_good) throw Error(ErrorKind::InvalidArgument, std::string("a node told an impossible ") + what);
}

bool is_rank(int rank, int world_size) { return rank >= 0 && rank < world_size; }

void check(const board::Shown& shown, int world_size) {
  check(shown.phase <= wire::Phase::Exit, "phase");
  check(shown.waits.size() <= board::kWaits && shown.operations.size() <= board::kOperations &&
            shown.errors.size() <= board::kErrors,
        "number of waits, operations or errors");
  for (const board::ShownWait& wait : shown.waits) {
    check(static_cast<int>(wait.kind) < board::kWaitKindCount, "kind of wait");
    check(wait.rule <= board::PeerRule::Any, "rule of peers");
    check(std::all_of(wait.peers.begin(), wait.peers.end(), [&](int peer) { return is_rank(peer, world_size); }),
          "peer");
  }
  for (const board::ShownOperation& operation : shown.operations) {
    check(static_cast<int>(operation.kind) < board::kWaitKindCount, "kind of operation");
  }
}

void shift(std::int64_t& time_ns, base::Nanoseconds offset) {
  std::int64_t sum = 0;
  if (time_ns != 0 && !__builtin_add_overflow(time_ns, offset.count(), &sum)) time_ns = sum;
}

void shift(board::Shown& shown, base::Nanoseconds offset) {
  shift(shown.phase_since_ns, offset);
  for (board::ShownWait& wait : shown.waits) {
    shift(wait.since_ns, offset);
    shift(wait.deadline_ns, offset);
  }
  for (board::ShownOperation& operation : shown.operations) shift(operation.at_ns, offset);
}

// Returns whether an enumerator is known.
bool is_known(const wire::ThreadStack& thread) {
  return static_cast<int>(thread.motion) < wire::kMotionCount &&
         static_cast<int>(thread.wait.object) < wire::kWaitObjectCount;
}

}  // namespace

void RankMirror::take(RankView view, base::Nanoseconds offset, int world_size) {
  if (view.shown) {
    check(*view.shown, world_size);
    shift(*view.shown, offset);
    shown = std::move(view.shown);
  }
  if (view.crash) {
    check(view.crash->stacks.threads.size() <= board::kDumpThreadsMax, "dump");
    crash = std::move(view.crash);
  }
  cpu_wait = base::Nanoseconds(view.cpu_wait_ns);
  cpu_time = base::Nanoseconds(view.cpu_time_ns);
  process = view.process;
}

evidence::Stacks checked(evidence::Stacks stacks, int host) {
  if (stacks.table.size() > evidence::kTableMax) stacks.table.resize(evidence::kTableMax);
  if (stacks.processes.size() > evidence::kProcessesMax) {
    stacks.processes.resize(evidence::kProcessesMax);
    stacks.cut = true;
  }
  for (evidence::Process& process : stacks.processes) {
    process.host = host + 1;  // 0 is this machine
    if (process.threads.size() > evidence::kThreadsMax) process.threads.resize(evidence::kThreadsMax);
    std::erase_if(process.threads, [](const wire::ThreadStack& thread) { return !is_known(thread); });
    for (wire::ThreadStack& thread : process.threads) {
      std::erase_if(thread.frames, [&](std::uint32_t frame) { return frame >= stacks.table.size(); });
      thread.gap_after = std::min(thread.gap_after, static_cast<std::int32_t>(thread.frames.size()));
    }
  }
  return stacks;
}

void append(evidence::Stacks& all, evidence::Stacks more) {
  const auto frames = static_cast<std::uint32_t>(all.table.size());
  const int processes = static_cast<int>(all.processes.size());
  std::move(more.table.begin(), more.table.end(), std::back_inserter(all.table));
  for (evidence::Process& process : more.processes) {
    process.index += processes;
    for (wire::ThreadStack& thread : process.threads) {
      for (std::uint32_t& frame : thread.frames) frame += frames;
    }
    all.processes.push_back(std::move(process));
  }
  all.cut = all.cut || more.cut;
  all.descendants_left += more.descendants_left;
  all.times_are_later = all.times_are_later || more.times_are_later;
  all.may_be_older = all.may_be_older || more.may_be_older;
}

}  // namespace distrun::nodes
