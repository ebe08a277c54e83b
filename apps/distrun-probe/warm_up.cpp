#include "warm_up.hpp"

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

#include "capture.hpp"

namespace distrun::probe {
namespace {

constexpr std::size_t kThreadsMost = 16;
constexpr std::size_t kCopyMost = std::size_t{64} << 10;

bool may_read(const wire::ProcessStacks& process) {
  return process.why_none.empty() && std::none_of(process.threads.begin(), process.threads.end(), [](const auto& each) {
           return each.task.state == 'D' || each.task.state == '?';
         });
}

}  // namespace

void WarmUp::begin(const wire::ProcessStacks& process) {
  if (thread_ || is_enough_ || !may_read(process)) return;
  const auto body = [this, process] {
    try {
      run(process);
    } catch (const std::exception&) {
      code_.space = nullptr;  // the main thread will meet the same error
    }
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    changed_.notify_all();
  };
  is_done_ = false;
  try {
    thread_.emplace("probe-code", body);
  } catch (const Error&) {
    is_enough_ = is_done_ = true;  // no thread can be made: all is read later
  }
}

void WarmUp::run(const wire::ProcessStacks& process) {
  const Mappings mappings = Mappings::of(process.pid);
  code_.signature = mappings.code_signature();
  code_.space = std::make_unique<CodeSpace>(process.pid);
  const evidence::Tasks tasks(process.pid);
  for (std::size_t i = 0; i < std::min(process.threads.size(), kThreadsMost) && !is_enough_; ++i) {
    const pid_t tid = process.threads[i].task.tid;
    const auto call = evidence::read_call(tasks, tid);
    if (!call || call->where != evidence::SyscallText::Where::InCall || call->is_32_bit()) continue;
    const auto capture = capture_sleeping(process.pid, tid, *call, mappings, kCopyMost);
    if (!capture) continue;
    for (const Frame& frame : code_.space->unwind(tid, *capture, mappings).inner) table_.warm(*code_.space, frame);
  }
}

bool WarmUp::is_done_within(base::Milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return is_done_; });
}

WarmUp::Code WarmUp::finish() {
  is_enough_ = true;
  thread_.reset();
  return std::move(code_);
}

}  // namespace distrun::probe
