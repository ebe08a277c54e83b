#include <distrun/runner/evidence/stacks/stacks.hpp>

#include <algorithm>
#include <iterator>

namespace distrun::evidence {
namespace {

constexpr std::size_t kThreadInnerMax = kThreadFramesMax * 3 / 4;

std::size_t frames_of(const wire::ProcessStacks& process) {
  std::size_t count = 0;
  for (const wire::ThreadStack& thread : process.threads) count += thread.frames.size();
  return count;
}

// A stack has one gap: an existing one is extended to cover the frames cut here.
void cut_in_the_middle(wire::ThreadStack& thread) {
  if (thread.frames.size() <= kThreadFramesMax) return;
  const auto from = thread.frames.begin() + kThreadInnerMax;
  const std::size_t surplus = thread.frames.size() - kThreadFramesMax;
  thread.frames.erase(from, from + static_cast<std::ptrdiff_t>(surplus));
  const auto here = static_cast<std::int32_t>(kThreadInnerMax);
  thread.gap_after = thread.gap_after < 0 ? here : std::min(thread.gap_after, here);
}

bool is_known(std::uint32_t frame, std::size_t table_size) {
#ifdef DISTRUN_FUZZ_PLANTED_BUG
  return frame <= table_size;
#else
  return frame < table_size;
#endif
}

void drop_unknown_frames(wire::ThreadStack& thread, std::size_t table_size) {
  std::int32_t before_gap = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < thread.frames.size(); ++i) {
    if (!is_known(thread.frames[i], table_size)) continue;
    if (static_cast<std::int64_t>(i) < thread.gap_after) ++before_gap;
    thread.frames[kept++] = thread.frames[i];
  }
  thread.frames.resize(kept);
  thread.gap_after = thread.gap_after < 0 || kept == 0 ? -1 : before_gap;
}

void make_valid(wire::ThreadStack& thread, std::size_t table_size) {
  drop_unknown_frames(thread, table_size);
  if (static_cast<int>(thread.motion) >= wire::kMotionCount) thread.motion = wire::Motion::Unknown;
  if (static_cast<int>(thread.wait.object) >= wire::kWaitObjectCount) thread.wait.object = wire::WaitObject::Unknown;
  if (thread.wait.enders.size() <= kEndersMax) return;
  thread.wait.enders.resize(kEndersMax);
  thread.wait.closed = false;  // one of the others may end it
}

}  // namespace

void StacksBuilder::add(wire::StackTable more) {
  const std::size_t room = kTableMax - table_.size();
  if (more.frames.size() > room) {
    more.frames.resize(room);
    cut_ = true;
  }
  std::move(more.frames.begin(), more.frames.end(), std::back_inserter(table_));
}

void StacksBuilder::forget(const wire::ProcessStacks& process) {
  threads_ -= process.threads.size();
  frames_ -= frames_of(process);
}

void StacksBuilder::add(wire::ProcessStacks process) {
  const auto known = processes_.find(process.index);
  if (known != processes_.end()) {
    forget(known->second);
    processes_.erase(known);
  } else if (processes_.size() >= kProcessesMax) {
    cut_ = true;
    return;
  }
  if (process.threads.size() > kThreadsMax - threads_) {
    process.threads.resize(kThreadsMax - threads_);
    cut_ = true;
  }
  for (wire::ThreadStack& thread : process.threads) {
    cut_in_the_middle(thread);
    if (thread.frames.size() > kFramesMax - frames_) {
      thread.frames.clear();
      thread.why_none = "more stacks arrived than are kept";
      cut_ = true;
    }
    frames_ += thread.frames.size();
  }
  threads_ += process.threads.size();
  processes_.emplace(process.index, std::move(process));
}

// Frame indices are checked here and not earlier, because a table may arrive after the process that refers to it.
Stacks StacksBuilder::take() {
  Stacks stacks;
  stacks.table = std::move(table_);
  stacks.cut = cut_;
  for (auto& [index, told] : processes_) {
    for (wire::ThreadStack& thread : told.threads) make_valid(thread, stacks.table.size());
    Process process;
    process.index = index;
    process.pid = told.pid;
    process.command = std::move(told.command);
    process.threads = std::move(told.threads);
    process.why_none = std::move(told.why_none);
    stacks.processes.push_back(std::move(process));
  }
  *this = StacksBuilder();
  return stacks;
}

}  // namespace distrun::evidence
