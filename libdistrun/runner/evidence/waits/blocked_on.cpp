#include <distrun/runner/evidence/waits/blocked_on.hpp>

#include <algorithm>
#include <cerrno>

#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>
#include <distrun/runner/evidence/waits/decode_call.hpp>

namespace distrun::evidence {
namespace {

// "4711 (name) S 1 ...", where the name may contain any character.
char state_of(const std::string& place) {
  const std::string stat = read_proc_file(place + "/stat", 1024).text;
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && name_end + 2 < stat.size() ? stat[name_end + 2] : '?';
}

std::string task_path(pid_t pid, int tid) { return proc_path(pid, "task/") + std::to_string(tid); }

bool may_be_read(pid_t pid, const std::vector<int>& tids) {
  return std::none_of(tids.begin(), tids.end(), [&](int tid) { return state_of(task_path(pid, tid)) == 'D'; });
}

std::string kernel_function(const std::string& place) {
  const ProcFile file = read_proc_file(place + "/wchan", 128);
  return file.text.starts_with('0') ? "" : file.text;
}

// After a thread has ended, its file still exists for a moment, empty.
std::string why_no_call(const ProcFile& file, const std::string& place) {
  if (file.error == 0) return "its system call cannot be decoded";
  const std::string function = kernel_function(place);
  return why_hidden(file.error) + (function.empty() ? "" : "; it sleeps in the kernel function " + function);
}

const CallInfo* info_of(const SyscallText& call, const std::string& place) {
  const CallInfo* info = find_call(call.number);
  if (info == nullptr || info->shape != CallShape::Restarts) return info;
  const CallInfo* restarted = restarted_call(kernel_function(place));
  return restarted == nullptr ? info : restarted;
}

void decode(const Connections& all, const std::vector<LockWait>& lock_waits, const RemoteMemory& memory,
            const std::string& place, Blocked& blocked) {
  const ProcFile file = read_proc_file(place + "/syscall", 512);
  const auto call = parse_syscall(file.text);
  if (!call) {
    blocked.why_unknown = why_no_call(file, place);
    blocked.hidden = file.error == EACCES || file.error == EPERM;
    return;
  }
  blocked.kind = BlockKind::None;
  if (call->where != SyscallText::Where::InCall) return;
  blocked.kind = BlockKind::Other;
  blocked.call = "system call " + std::to_string(call->number);
  const CallInfo* info = call->is_32_bit() ? nullptr : info_of(*call, place);
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

}  // namespace

Blocked blocked_thread(const Connections& all, const std::vector<LockWait>& lock_waits, const RemoteMemory& memory,
                       pid_t tid) {
  Blocked blocked;
  blocked.pid = memory.pid();
  blocked.tid = tid;
  const std::string place = task_path(memory.pid(), tid);
  blocked.name = name_in(place);
  blocked.state = state_of(place);
  if (blocked.state == 'Z' || blocked.state == 'X') {
    blocked.kind = BlockKind::None;
    return blocked;
  }
  decode(all, lock_waits, memory, place, blocked);
  if (blocked.state == 'D') blocked.kernel_function = kernel_function(place);
  blocked.peers = peers_of(all, blocked);
  for (const pid_t other : blocked.peers) {
    if (all.process(other) == nullptr && !all.others.contains(other)) blocked.strangers[other] = describe_other(other);
  }
  return blocked;
}

std::vector<Blocked> blocked_threads(const Connections& all, std::chrono::steady_clock::time_point end) {
  std::vector<Blocked> threads;
  const std::vector<LockWait> lock_waits = read_lock_waits();
  for (const Party& process : all.processes) {
    const std::vector<int> tids = numbers_in(proc_path(process.pid, "task"), kThreadsOfProcessMax).numbers;
    const RemoteMemory memory(process.pid, may_be_read(process.pid, tids));
    for (const int tid : tids) {
      if (std::chrono::steady_clock::now() >= end) return threads;
      threads.push_back(blocked_thread(all, lock_waits, memory, tid));
    }
  }
  return threads;
}

}  // namespace distrun::evidence
