#include <distrun/runner/evidence/waits/blocked_on.hpp>

#include <algorithm>
#include <cerrno>

#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/evidence/waits/decode_call.hpp>

namespace distrun::evidence {
namespace {

bool may_be_read(const std::vector<wire::TaskState>& threads) {
  return std::none_of(threads.begin(), threads.end(), [](const wire::TaskState& each) { return each.state == 'D'; });
}

std::string kernel_function(const Tasks& tasks, pid_t tid) {
  const std::string text = tasks.read(tid, "wchan").text;
  return text.starts_with('0') ? "" : text;
}

// After a thread has ended, its file still exists for a moment, empty.
std::string why_no_call(const ProcFile& file, const Tasks& tasks, pid_t tid) {
  if (file.error == 0) return "its system call cannot be decoded";
  const std::string function = kernel_function(tasks, tid);
  return why_hidden(file.error) + (function.empty() ? "" : "; it sleeps in the kernel function " + function);
}

const CallInfo* info_of(const SyscallText& call, const Tasks& tasks, pid_t tid) {
  const CallInfo* info = find_call(call.number);
  if (info == nullptr || info->shape != CallShape::Restarts) return info;
  const CallInfo* restarted = restarted_call(kernel_function(tasks, tid));
  return restarted == nullptr ? info : restarted;
}

void decode(const Connections& all, const std::vector<LockWait>& lock_waits, const RemoteMemory& memory,
            const Tasks& tasks, Blocked& blocked) {
  const ProcFile file = tasks.read(blocked.tid, "syscall");
  const auto call = parse_syscall(file.text);
  if (!call) {
    blocked.why_unknown = why_no_call(file, tasks, blocked.tid);
    blocked.hidden = file.error == EACCES || file.error == EPERM;
    return;
  }
  blocked.kind = BlockKind::None;
  if (call->where != SyscallText::Where::InCall) return;
  blocked.kind = BlockKind::Other;
  blocked.call = "system call " + std::to_string(call->number);
  const CallInfo* info = call->is_32_bit() ? nullptr : info_of(*call, tasks, blocked.tid);
  if (info != nullptr) decode_call({all, lock_waits, memory, *info, *call}, blocked);
  if (call->is_32_bit()) blocked.call += " of a 32-bit program";
}

void add(std::vector<pid_t>& pids, const std::vector<pid_t>& more) {
  pids.insert(pids.end(), more.begin(), more.end());
}

std::vector<pid_t> peers_of(const Connections& all, const Blocked& blocked) {
  std::vector<pid_t> peers = blocked.pids;
  for (const Watch& watch : blocked.fds) {
    const Descriptor* descriptor = all.descriptor(blocked.pid, watch.fd);
    if (watch.reads) add(peers, other_side(all, blocked.pid, watch.fd, true));
    if (watch.writes) add(peers, other_side(all, blocked.pid, watch.fd, false));
    if (descriptor != nullptr && descriptor->process > 0) peers.push_back(descriptor->process);
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

Blocked blocked_thread(const Connections& all, const std::vector<LockWait>& lock_waits, const RemoteMemory& memory,
                       const Tasks& tasks, const wire::TaskState& thread) {
  Blocked blocked;
  blocked.pid = memory.pid();
  blocked.tid = thread.tid;
  blocked.name = thread.name.empty() ? "?" : thread.name;
  blocked.state = static_cast<char>(thread.state);
  if (blocked.state == 'Z' || blocked.state == 'X') {
    blocked.kind = BlockKind::None;
    return blocked;
  }
  decode(all, lock_waits, memory, tasks, blocked);
  if (blocked.state == 'D') blocked.kernel_function = kernel_function(tasks, thread.tid);
  blocked.peers = peers_of(all, blocked);
  for (const pid_t other : blocked.peers) {
    if (all.process(other) == nullptr && !all.others.contains(other)) blocked.strangers[other] = describe_other(other);
  }
  return blocked;
}

std::vector<wire::TaskState> threads_of(const Tasks& tasks) {
  std::vector<pid_t> tids = tasks.ids();
  std::sort(tids.begin(), tids.end());
  if (tids.size() > kThreadsOfProcessMax) tids.resize(kThreadsOfProcessMax);
  std::vector<wire::TaskState> threads;
  for (const pid_t tid : tids) threads.push_back(read_name_and_state(tasks, tid));
  return threads;
}

}  // namespace

Blocked blocked_thread(const Connections& all, const std::vector<LockWait>& lock_waits, const RemoteMemory& memory,
                       pid_t tid) {
  const Tasks tasks(memory.pid());
  return blocked_thread(all, lock_waits, memory, tasks, read_name_and_state(tasks, tid));
}

std::vector<Blocked> blocked_threads(const Connections& all, std::chrono::steady_clock::time_point end) {
  std::vector<Blocked> found;
  const std::vector<LockWait> lock_waits = read_lock_waits();
  for (const Party& process : all.processes) {
    const Tasks tasks(process.pid);
    const std::vector<wire::TaskState> threads = threads_of(tasks);
    const RemoteMemory memory(process.pid, may_be_read(threads));
    for (const wire::TaskState& thread : threads) {
      if (std::chrono::steady_clock::now() >= end) return found;
      found.push_back(blocked_thread(all, lock_waits, memory, tasks, thread));
    }
  }
  return found;
}

}  // namespace distrun::evidence
