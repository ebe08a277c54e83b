#include <distrun/runner/evidence/waits/decode_call.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kPollsMax = 4096;

std::string call_of(const CallInfo& info, const std::string& arguments) {
  return std::string(info.name) + "(" + arguments + ")";
}

void wait_for_fd(const CallPlace& place, std::size_t argument, bool reads, bool writes, Blocked& blocked) {
  const int fd = int_of(place.call.args[argument]);
  blocked.kind = BlockKind::Descriptors;
  blocked.call = call_of(place.info, std::to_string(fd));
  blocked.fds.push_back({fd, reads, writes});
  set_socket_limit(place.all.descriptor(blocked.pid, fd), writes, blocked);
}

// splice and sendfile wait for whichever descriptor is not ready: only one of them blocks the call at any time.
void move(const CallPlace& place, std::size_t from, std::size_t to, Blocked& blocked) {
  const int source = int_of(place.call.args[from]);
  const int sink = int_of(place.call.args[to]);
  blocked.kind = BlockKind::Descriptors;
  blocked.call = call_of(place.info, std::to_string(source) + " to " + std::to_string(sink));
  blocked.fds = {{source, true, false}, {sink, false, true}};
}

void set_limit(std::int64_t seconds, std::int64_t nanoseconds, Blocked& blocked) {
  blocked.bounded = true;
  blocked.limit = shown_length(seconds, nanoseconds);
}

// The kernel stores the remaining time there only when the call returns.
void limit_at(const RemoteMemory& memory, std::uint64_t address, Blocked& blocked) {
  if (address == 0) return;
  blocked.bounded = true;
  if (const auto length = memory.value<timespec>(address)) set_limit(length->tv_sec, length->tv_nsec, blocked);
}

void limit_ms(std::uint64_t argument, Blocked& blocked) {
  const int length = int_of(argument);
  if (length >= 0) set_limit(length / 1000, length % 1000 * 1'000'000LL, blocked);
}

// Names a call that takes several descriptors, once these are known.
void name_watches(const CallInfo& info, Blocked& blocked) {
  const std::size_t count = blocked.fds.size();
  blocked.kind = BlockKind::Descriptors;
  blocked.polls = true;
  if (count == 1)
    blocked.call = call_of(info, std::to_string(blocked.fds[0].fd));
  else
    blocked.call = std::string(info.name) + " of " + std::to_string(count) + " descriptors";
  if (count == 0) blocked.kind = blocked.bounded ? BlockKind::Sleep : BlockKind::Signal;
}

void decode_poll(const CallPlace& place, Blocked& blocked) {
  const std::size_t count = std::min<std::size_t>(place.call.args[1], kPollsMax);
  for (const pollfd& entry : place.memory.values<pollfd>(place.call.args[0], count)) {
    const bool reads = (entry.events & (POLLIN | POLLRDNORM | POLLRDHUP)) != 0;
    const bool writes = (entry.events & (POLLOUT | POLLWRNORM)) != 0;
    // Without any event it still waits for the connection to end, which the other side causes.
    if (entry.fd >= 0) blocked.fds.push_back({entry.fd, reads || !writes, writes});
  }
  const bool unread = blocked.fds.empty() && count != 0;
  name_watches(place.info, blocked);
  if (!unread) return;
  blocked.kind = BlockKind::Descriptors;
  blocked.call = std::string(place.info.name) + " of " + std::to_string(count) + " descriptors";
}

void decode_select(const CallPlace& place, Blocked& blocked) {
  const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(int_of(place.call.args[0])), kPollsMax);
  constexpr std::size_t kBits = 64;
  const std::size_t words = (count + kBits - 1) / kBits;
  std::vector<std::uint64_t> sets[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (place.call.args[i + 1] != 0) sets[i] = place.memory.values<std::uint64_t>(place.call.args[i + 1], words);
    sets[i].resize(words);
  }
  for (std::size_t fd = 0; fd < count; ++fd) {
    const auto is_in = [&](std::size_t set) { return (sets[set][fd / kBits] >> (fd % kBits) & 1) != 0; };
    const bool reads = is_in(0) || is_in(2);
    if (reads || is_in(1)) blocked.fds.push_back({static_cast<int>(fd), reads, is_in(1)});
  }
  name_watches(place.info, blocked);
}

void decode_epoll(const CallPlace& place, Blocked& blocked) {
  const int fd = int_of(place.call.args[0]);
  blocked.kind = BlockKind::Descriptors;
  blocked.polls = true;
  blocked.call = call_of(place.info, std::to_string(fd));
  const Descriptor* epoll = place.all.descriptor(blocked.pid, fd);
  if (epoll != nullptr) blocked.fds = epoll->watches;
}

void decode_wait4(const CallPlace& place, Blocked& blocked) {
  const pid_t wanted = int_of(place.call.args[0]);
  blocked.kind = BlockKind::Child;
  blocked.call = call_of(place.info, std::to_string(wanted));
  if (wanted > 0)
    blocked.pids = {wanted};
  else
    blocked.pids = children_of(blocked.pid);
}

void decode_waitid(const CallPlace& place, Blocked& blocked) {
  constexpr int kPidfd = 3;  // P_PIDFD, which some headers lack
  const int type = int_of(place.call.args[0]);
  const int id = int_of(place.call.args[1]);
  blocked.kind = BlockKind::Child;
  blocked.call = call_of(place.info, type == P_ALL    ? "any child"
                                     : type == kPidfd ? "pidfd " + std::to_string(id)
                                     : type == P_PGID ? "group " + std::to_string(id)
                                                      : std::to_string(id));
  const Descriptor* pidfd = type == kPidfd ? place.all.descriptor(blocked.pid, id) : nullptr;
  if (type == P_PID)
    blocked.pids = {id};
  else if (pidfd != nullptr && pidfd->process > 0)
    blocked.pids = {pidfd->process};
  else if (type != kPidfd)
    blocked.pids = children_of(blocked.pid);
}

// Returns the name that /proc/locks uses for a descriptor's file.
std::string lock_name(const Descriptor& descriptor) {
  char text[64];
  std::snprintf(text, sizeof text, "%02x:%02x:%llu", major(descriptor.id.device), minor(descriptor.id.device),
                static_cast<unsigned long long>(descriptor.id.inode));
  return text;
}

// An open-file lock belongs to all processes that have inherited the descriptor; /proc/locks does not name them.
std::vector<pid_t> lock_holders(const Connections& all, const std::string& file) {
  std::vector<pid_t> holders;
  for (const Party& process : all.processes) {
    const auto& fds = process.descriptors.list;
    const bool holds = std::any_of(fds.begin(), fds.end(), [&](const Descriptor& descriptor) {
      return std::find(descriptor.locks.begin(), descriptor.locks.end(), file) != descriptor.locks.end();
    });
    if (holds) holders.push_back(process.pid);
  }
  return holders;
}

// Returns the line of /proc/locks for this wait: that of its file, else the only one of the process. Open-file locks
// have no process there.
const LockWait* find_lock_wait(const std::vector<LockWait>& waits, pid_t pid, const std::string& file) {
  const LockWait* of_process = nullptr;
  int count = 0;
  for (const LockWait& entry : waits) {
    if ((entry.waiter == pid || entry.waiter <= 0) && entry.file == file) return &entry;
    if (entry.waiter != pid) continue;
    of_process = &entry;
    ++count;
  }
  return count == 1 ? of_process : nullptr;
}

void decode_lock(const CallPlace& place, Blocked& blocked) {
  const int fd = int_of(place.call.args[0]);
  blocked.kind = BlockKind::FileLock;
  blocked.call = call_of(place.info, std::to_string(fd));
  const Descriptor* file = place.all.descriptor(blocked.pid, fd);
  const std::string name = file == nullptr ? "" : lock_name(*file);
  const LockWait* const wait = find_lock_wait(place.lock_waits, blocked.pid, name);
  const bool known = wait != nullptr;
  blocked.lock_key = known ? wait->file : name;
  blocked.lock = file == nullptr || file->path.empty() ? blocked.lock_key : file->path;
  blocked.pids = lock_holders(place.all, blocked.lock_key);
  const bool told = known && wait->holder > 0 && wait->holder != blocked.pid;
  if (told && blocked.pids.empty()) blocked.pids = {wait->holder};
}

void decode_fcntl(const CallPlace& place, Blocked& blocked) {
  const int command = int_of(place.call.args[1]);
  constexpr int kOpenFileLock = 38;  // F_OFD_SETLKW, which needs _GNU_SOURCE
  if (command == F_SETLKW || command == kOpenFileLock) return decode_lock(place, blocked);
  blocked.kind = BlockKind::Other;
  blocked.call = call_of(place.info, std::to_string(int_of(place.call.args[0])));
}

void decode_sleep(const CallPlace& place, Blocked& blocked) {
  const bool has_clock = place.info.shape == CallShape::SleepsClock;
  const bool is_absolute = has_clock && (place.call.args[1] & TIMER_ABSTIME) != 0;
  blocked.kind = BlockKind::Sleep;
  blocked.call = place.info.name;
  blocked.bounded = true;
  if (!is_absolute) limit_at(place.memory, place.call.args[has_clock ? 2 : 0], blocked);
}

// A vfork waits until the child executes a program or ends. A clone or clone3 that waits is one.
void decode_vfork(Blocked& blocked) {
  if (blocked.state == 'R') return;
  blocked.kind = BlockKind::Child;
  blocked.pids = children_of(blocked.pid);
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = proc_path(pid, "task");
  for (const int tid : numbers_in(tasks, kThreadsOfProcessMax).numbers) {
    const ProcFile file = read_proc_file(tasks + "/" + std::to_string(tid) + "/children");
    Words words(file.text);
    while (const auto child = number_in<pid_t>(words.next())) children.push_back(*child);
  }
  std::sort(children.begin(), children.end());
  return children;
}

std::string shown_length(std::int64_t seconds, std::int64_t nanoseconds) {
  char text[48];
  const double length = static_cast<double>(seconds) + static_cast<double>(nanoseconds) / 1e9;
  if (seconds < 0 || nanoseconds < 0 || nanoseconds >= 1'000'000'000) return "";
  if (length < 0.1)
    std::snprintf(text, sizeof text, "%.3g ms", length * 1e3);
  else if (length < 1000)
    std::snprintf(text, sizeof text, "%.3g s", length);
  else if (length < 172'800)
    std::snprintf(text, sizeof text, "%.0f s", length);
  else
    std::snprintf(text, sizeof text, "%.0f days", length / 86'400);
  return text;
}

void decode_call(const CallPlace& place, Blocked& blocked) {
  const auto& args = place.call.args;
  switch (place.info.shape) {
    case CallShape::Reads:
    case CallShape::Accepts: return wait_for_fd(place, 0, true, false, blocked);
    case CallShape::Writes: return wait_for_fd(place, 0, false, true, blocked);
    case CallShape::Receives: blocked.bounded = args[4] != 0; return wait_for_fd(place, 0, true, false, blocked);
    case CallShape::Posts: blocked.bounded = args[4] != 0; return wait_for_fd(place, 0, false, true, blocked);
    case CallShape::Connects: return decode_connect(place, blocked);
    case CallShape::Moves: return move(place, 0, 2, blocked);
    case CallShape::Sends: return move(place, 1, 0, blocked);
    case CallShape::Opens: return decode_open(place, 0, blocked);
    case CallShape::OpensAt: return decode_open(place, 1, blocked);
    case CallShape::Polls: limit_ms(args[2], blocked); return decode_poll(place, blocked);
    case CallShape::PollsSpec: limit_at(place.memory, args[2], blocked); return decode_poll(place, blocked);
    case CallShape::Selects: blocked.bounded = args[4] != 0; return decode_select(place, blocked);
    case CallShape::SelectsSpec: limit_at(place.memory, args[4], blocked); return decode_select(place, blocked);
    case CallShape::EpollWaits: limit_ms(args[3], blocked); return decode_epoll(place, blocked);
    case CallShape::EpollSpec: limit_at(place.memory, args[3], blocked); return decode_epoll(place, blocked);
    case CallShape::WaitsChild: return decode_wait4(place, blocked);
    case CallShape::WaitsId: return decode_waitid(place, blocked);
    case CallShape::Futex: return decode_futex(place.memory, place.call, blocked);
    case CallShape::Flock: return decode_lock(place, blocked);
    case CallShape::Fcntl: return decode_fcntl(place, blocked);
    case CallShape::Sleeps:
    case CallShape::SleepsClock: return decode_sleep(place, blocked);
    case CallShape::Signal: blocked.kind = BlockKind::Signal; break;
    case CallShape::Clones: decode_vfork(blocked); break;
    case CallShape::Restarts:
    case CallShape::Other: blocked.kind = BlockKind::Other; break;
  }
  blocked.call = place.info.name;
}

}  // namespace distrun::evidence
