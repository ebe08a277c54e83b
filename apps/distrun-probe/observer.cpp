#include "observer.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/evidence/waits/observed_wait.hpp>

#include "futex_wait.hpp"
#include "names.hpp"
#include "qualified_name.hpp"
#include "wait_functions.hpp"

namespace distrun::probe {
namespace {

using wire::WaitObject;

constexpr std::size_t kFunctionsMax = 64;  // of a stack
constexpr const char* kNoTime = "not looked at: there was no time";

// The arguments of a futex call, as evidence::Blocked::call has them.
std::string call_on(std::uint64_t futex) {
  char text[40];
  std::snprintf(text, sizeof text, "futex(0x%llx)", static_cast<unsigned long long>(futex));
  return text;
}

// Returns the call that the thread is in; empty if that is not known. A resumed call has another number.
std::string_view call_in(const Capture& capture) {
  const evidence::CallInfo* info = evidence::find_call(capture.registers.call());
  return info == nullptr || info->shape == evidence::CallShape::Restarts ? "" : info->name;
}

// The thread has left the seen call for another one, or for none.
wire::ObservedWait newer_wait(const Capture& capture) {
  wire::ObservedWait wait;
  wait.call = capture.futex != 0 ? call_on(capture.futex) : std::string(call_in(capture));
  if (!wait.call.empty()) wait.object = WaitObject::Unknown;
  return wait;
}

bool is_outdated(const wire::ObservedWait& wait, const Capture& capture) {
  if (capture.futex != 0) return wait.call != call_on(capture.futex);
  if (wait.object == WaitObject::None || wait.call.empty()) return false;
  return !capture.registers.in_call() || !wait.call.starts_with(call_in(capture));
}

// A known owner says more than the library that the lock belongs to.
bool may_be_of_library(WaitObject object) {
  switch (object) {
    case WaitObject::Mutex:
    case WaitObject::SharedMutex:
    case WaitObject::ReadWriteLock:
    case WaitObject::ThreadEnd:
    case WaitObject::StaticGuard:
    case WaitObject::LoaderLock:
    case WaitObject::HeapLock:
    case WaitObject::FileLock:
    case WaitObject::Child:
    case WaitObject::Process: return false;
    default: return true;
  }
}

// Its other side is another rank's library, a device or a network: nothing proves that the wait cannot end.
void take_library(WaitFunction function, wire::ObservedWait& wait) {
  if (function.object == WaitObject::None || !may_be_of_library(wait.object)) return;
  wait.object = function.object;
  wait.name = std::move(function.name);
  wait.key.clear();
  wait.closed = false;
  if (function.object == WaitObject::Device) wait.enders.clear();
}

pid_t process_of(pid_t tid) { return evidence::process_of(tid); }

}  // namespace

void Observer::begin(const std::vector<pid_t>& pids, std::chrono::milliseconds limit) {
  end_ = base::deadline_after(limit);
  for (const pid_t pid : pids) traits_of(pid);  // before the waits: a child that may end one may be gone later
  const auto read = [this, pids, limit] {
    try {
      connections_ = evidence::find_connections(pids, limit / 2);
    } catch (...) {
      why_none_ = std::current_exception();
    }
  };
  try {
    reading_.emplace("probe-sockets", read);
  } catch (const Error&) {
    read();  // no thread can be made
  }
}

void Observer::look() {
  reading_.reset();
  if (why_none_) std::rethrow_exception(why_none_);
  const evidence::Connections& all = connections_;
  const std::vector<evidence::Blocked> blocked = evidence::blocked_threads(all, end_);
  const evidence::Names names(all, blocked);
  for (const evidence::Blocked& thread : blocked) seen_[thread.tid] = evidence::observed_wait(all, names, thread);
  cut_ = std::chrono::steady_clock::now() >= end_;
}

const Observer::Traits& Observer::traits_of(pid_t pid) {
  const auto [found, is_new] = traits_.try_emplace(pid);
  if (is_new) found->second = {evidence::wakers_of(pid), evidence::has_other_ids(pid)};
  return found->second;
}

void Observer::open_if_woken(pid_t pid, wire::ObservedWait& wait) {
  if (wait.closed && evidence::may_end(traits_of(pid).wakers, wait.object)) wait.closed = false;
}

void Observer::fill(wire::ProcessStacks& process) {
  for (wire::ThreadStack& thread : process.threads) {
    const auto seen = seen_.find(thread.task.tid);
    if (seen != seen_.end()) {
      thread.wait = seen->second;
      const bool is_unclear = thread.wait.object == WaitObject::Unknown;  // until it has a stack
      if (!is_unclear) open_if_woken(process.pid, thread.wait);
    } else if (cut_ && thread.task.state != 'R') {
      thread.wait.object = WaitObject::Unknown;
      thread.wait.note = kNoTime;
    }
  }
}

const std::string& Observer::name(std::uint32_t frame, const FrameTable& table) {
  const auto [at, is_new] = names_.try_emplace(frame);
  if (is_new) at->second = qualified_name(table[frame].function);
  return at->second;
}

NamedStack Observer::name(const wire::ThreadStack& thread, const FrameTable& table) {
  NamedStack stack;
  bool in_runtime = true;
  for (const std::uint32_t frame : thread.frames) {
    if (stack.functions.size() == kFunctionsMax) break;
    const std::string& function = name(frame, table);
    in_runtime = in_runtime && (is_runtime_library(table[frame].module) || is_standard_function(function));
    stack.functions.push_back(function);
    if (in_runtime) stack.runtime = stack.functions.size();
  }
  return stack;
}

void Observer::complete(const wire::ProcessStacks& process, const Capture& capture, const FrameTable& table,
                        wire::ThreadStack& thread) {
  if (is_outdated(thread.wait, capture)) thread.wait = newer_wait(capture);
  const NamedStack stack = name(thread, table);
  if (capture.futex != 0) {
    FutexPlace place{process.pid, thread.task.tid, capture.futex, capture.around_futex, {}, has_other_ids(process.pid)};
    place.functions.assign(stack.functions.begin(),
                           stack.functions.begin() + static_cast<std::ptrdiff_t>(stack.runtime));
    thread.wait = observe_futex(place, std::move(thread.wait), process.threads, process_of);
  }
  take_library(wait_in_library(stack.functions), thread.wait);
  open_if_woken(process.pid, thread.wait);
}

void Observer::complete(const FrameTable& table, wire::ProcessStacks& process) {
  const bool has_any = std::any_of(process.threads.begin(), process.threads.end(), [](const auto& thread) {
    return thread.wait.object == WaitObject::StaticGuard || thread.wait.object == WaitObject::HeapLock;
  });
  if (!has_any) return;
  std::vector<NamedStack> stacks;
  for (const wire::ThreadStack& thread : process.threads) stacks.push_back(name(thread, table));
  name_holders(stacks, process);
}

}  // namespace distrun::probe
