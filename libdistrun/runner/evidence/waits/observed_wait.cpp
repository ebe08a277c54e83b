#include <distrun/runner/evidence/waits/observed_wait.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/waits/wait_edges.hpp>

namespace distrun::evidence {
namespace {

using wire::WaitObject;

constexpr std::size_t kTextMax = 300;
constexpr std::size_t kEndersMax = 64;

std::string id_text(const FileId& id) { return std::to_string(id.device) + ":" + std::to_string(id.inode); }

bool is_listening(const Connections& all, const Descriptor& descriptor) {
  const Socket* socket = all.sockets.find(descriptor.id.inode);
  return socket != nullptr && socket->state == SocketState::Listening;
}

WaitObject object_of(const Connections& all, const Descriptor& descriptor) {
  switch (descriptor.kind) {
    case DescriptorKind::Pipe: return WaitObject::Pipe;
    case DescriptorKind::UnixSocket:
    case DescriptorKind::Tcp: return is_listening(all, descriptor) ? WaitObject::Listener : WaitObject::Socket;
    case DescriptorKind::Udp:
    case DescriptorKind::OtherSocket: return WaitObject::Socket;
    case DescriptorKind::Pidfd: return WaitObject::Process;
    case DescriptorKind::Timerfd: return WaitObject::Timer;
    case DescriptorKind::Signalfd: return WaitObject::Signal;
    case DescriptorKind::Eventfd: return WaitObject::Semaphore;  // a counter, which any holder may raise
    case DescriptorKind::Epoll: return WaitObject::Events;
    default: return WaitObject::Other;
  }
}

std::string key_of(WaitObject object, const Descriptor& descriptor) {
  if (object == WaitObject::Pipe) return "pipe:" + id_text(descriptor.id);
  if (object == WaitObject::Socket || object == WaitObject::Listener) return "socket:" + id_text(descriptor.id);
  return object == WaitObject::Process ? "process:" + std::to_string(descriptor.process) : "";
}

void take_target(const Blocked& blocked, wire::ObservedWait& wait) {
  wait.object = WaitObject::Listener;
  wait.name = "a connection to " + blocked.target;
  wait.key = "listener:" + blocked.target;
  wait.note = blocked.pids.empty() ? "no process that was seen listens there" : "it has not been accepted";
}

void take_queue(const Descriptor* descriptor, wire::ObservedWait& wait) {
  wait.object = WaitObject::Pipe;
  if (descriptor == nullptr) return;
  wait.name = "message queue " + descriptor->path;
  wait.key = "queue:" + descriptor->path;
}

void take_fifo(const Blocked& blocked, wire::ObservedWait& wait) {
  wait.object = WaitObject::Pipe;
  wait.name = "the other end of pipe " + blocked.target;
  wait.key = "fifo:" + blocked.target;
  wait.note = "no process has opened it";
}

void take_descriptor(const Connections& all, const Names& names, const Blocked& blocked, const Watch& watch,
                     wire::ObservedWait& wait) {
  const Descriptor* descriptor = all.descriptor(blocked.pid, watch.fd);
  wait.name = watch_text(all, names, blocked, watch);
  wait.object = descriptor == nullptr ? WaitObject::Unknown : object_of(all, *descriptor);
  if (descriptor != nullptr) wait.key = key_of(wait.object, *descriptor);
  if (!blocked.target.empty()) return take_target(blocked, wait);
  if (blocked.call.starts_with("mq_")) return take_queue(descriptor, wait);
  const Connection* connection = all.find(blocked.pid, watch.fd);
  if (connection == nullptr) return;
  // The holders of the ends follow the name, after a comma.
  const std::string name = describe(*connection);
  if (wait.name.size() > name.size() + 2) wait.note = wait.name.substr(name.size() + 2);
  wait.name = name;
}

void take_descriptors(const Connections& all, const Names& names, const Blocked& blocked, wire::ObservedWait& wait) {
  if (blocked.fds.size() == 1 && !wait.call.starts_with("epoll"))
    return take_descriptor(all, names, blocked, blocked.fds[0], wait);
  wait.object = WaitObject::Events;
  const std::size_t count = blocked.fds.size();
  wait.name = count == 1 ? "a descriptor" : std::to_string(count) + " descriptors";
  wait.note = watches_text(all, names, blocked);
}

void take_children(const Blocked& blocked, const Names& names, wire::ObservedWait& wait) {
  wait.object = WaitObject::Child;
  const bool one = blocked.pids.size() == 1;
  wait.name = one ? "child " + names.of(blocked.pids[0]) : "one of its children";
  if (blocked.pids.empty()) wait.note = "it has no child";
  if (one) wait.key = "process:" + std::to_string(blocked.pids[0]);
}

void take_futex(const Blocked& blocked, wire::ObservedWait& wait) {
  // Only a mutex shows an owner in shared memory.
  const bool is_mutex = blocked.owner != 0 || !blocked.lock_note.empty();
  wait.object = !is_mutex ? WaitObject::Unknown : blocked.is_shared ? WaitObject::SharedMutex : WaitObject::Mutex;
  const std::string address = blocked.lock.substr(blocked.lock.rfind(' ') + 1);
  wait.name = wait.object == WaitObject::Mutex ? "mutex " + address : blocked.lock;
  wait.key = "futex:" + blocked.lock_key;
  wait.note = blocked.lock_note;
}

void take_object(const Connections& all, const Names& names, const Blocked& blocked, wire::ObservedWait& wait) {
  switch (blocked.kind) {
    case BlockKind::None: break;
    case BlockKind::Descriptors: return take_descriptors(all, names, blocked, wait);
    case BlockKind::Child: return take_children(blocked, names, wait);
    case BlockKind::FileLock:
      wait.object = WaitObject::FileLock;
      wait.name = "lock of " + blocked.lock;
      wait.key = "file:" + blocked.lock_key;
      break;
    case BlockKind::Futex: return take_futex(blocked, wait);
    case BlockKind::Thread:
      wait.object = WaitObject::ThreadEnd;
      wait.name = blocked.lock;
      wait.key = "thread:" + std::to_string(blocked.owner);
      break;
    case BlockKind::Fifo: return take_fifo(blocked, wait);
    case BlockKind::Sleep: wait.object = WaitObject::Timer; break;
    case BlockKind::Signal: wait.object = WaitObject::Signal; break;
    case BlockKind::Other: wait.object = WaitObject::Other; break;
    case BlockKind::Unknown:
      wait.object = WaitObject::Unknown;
      wait.note = blocked.why_unknown;
      break;
  }
}

std::string name_of_thread(pid_t tid, const Names& names, pid_t pid) {
  return tid == pid ? names.of(pid) : "thread " + std::to_string(tid) + " of " + names.of(pid);
}

std::vector<wire::WaitEnder> enders_of(const Names& names, const Blocked& blocked) {
  if (blocked.kind == BlockKind::Thread) return {{blocked.pid, blocked.owner, blocked.lock}};
  if (blocked.owner != 0 && blocked.pids.size() == 1)
    return {{blocked.pids[0], blocked.owner, name_of_thread(blocked.owner, names, blocked.pids[0])}};
  const bool is_private = blocked.kind == BlockKind::Futex && !blocked.is_shared;
  if (is_private) return {{blocked.pid, 0, names.of(blocked.pid)}};
  std::vector<wire::WaitEnder> enders;
  for (const pid_t pid : blocked.peers) {
    if (enders.size() < kEndersMax) enders.push_back({pid, 0, names.of(pid)});
  }
  return enders;
}

// Claims nothing if a process that was not seen may have the other end.
bool is_closed(const Connections& all, const Blocked& blocked, const wire::ObservedWait& wait) {
  if (may_end_otherwise(all, blocked) || blocked.peers.size() > kEndersMax) return false;
  if (blocked.kind == BlockKind::Futex && !blocked.lock_note.empty()) return true;  // its owner cannot release it
  if (wait.enders.empty()) return false;
  return blocked.kind != BlockKind::Descriptors || (!all.others_cut && !all.hidden_heirs);
}

std::string state_note(const Blocked& blocked) {
  if (blocked.state == 'T') return "stopped by a signal";
  if (blocked.state == 't') return "stopped by a debugger";
  if (blocked.state != 'D') return "";
  const bool known = !blocked.kernel_function.empty();
  return known ? "uninterruptible in the kernel function " + blocked.kernel_function : "uninterruptible";
}

}  // namespace

wire::ObservedWait observed_wait(const Connections& all, const Names& names, const Blocked& blocked) {
  wire::ObservedWait wait;
  wait.call = base::one_line(blocked.call, kTextMax);
  wait.limit = blocked.limit;
  take_object(all, names, blocked, wait);
  if (blocked.bounded && wait.limit.empty()) wait.limit = "a fixed time";
  if (wait.object != WaitObject::None) wait.enders = enders_of(names, blocked);
  wait.closed = is_closed(all, blocked, wait);
  const std::string state = state_note(blocked);
  if (!state.empty()) wait.note += (wait.note.empty() ? "" : "; ") + state;
  wait.name = base::one_line(wait.name, kTextMax);
  wait.note = base::one_line(wait.note, kTextMax);
  return wait;
}

}  // namespace distrun::evidence
