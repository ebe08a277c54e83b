#include <distrun/runner/evidence/waits/wait_text.hpp>

#include <algorithm>

namespace distrun::evidence {
namespace {

constexpr std::size_t kWatchesShown = 6;

std::string more(std::size_t count) { return std::to_string(count) + " more"; }

std::vector<int> own_fds(const std::vector<End>& ends, pid_t pid) {
  std::vector<int> fds;
  for (const End& end : ends) {
    if (end.pid == pid) fds.push_back(end.fd);
  }
  return fds;
}

std::string fds_text(const std::vector<int>& fds) {
  constexpr std::size_t kShown = 4;
  std::string text = fds.size() == 1 ? "fd" : "fds";
  for (std::size_t i = 0; i < fds.size() && i < kShown; ++i) text += " " + std::to_string(fds[i]);
  return fds.size() > kShown ? text + " ..." : text;
}

// Describes a descriptor that connects no processes, as far as known.
std::string lone_descriptor(const Connections& all, const Descriptor& descriptor) {
  if (const Socket* socket = all.sockets.find(descriptor.id.inode); socket != nullptr && descriptor.id.device == 0) {
    const std::string name = socket->name.empty() ? "without a name" : socket->name;
    if (socket->state != SocketState::Listening) return std::string("a ") + name_of(descriptor.kind) + " " + name;
    const std::string backlog =
        socket->to_read == 0 ? "" : ", " + std::to_string(socket->to_read) + " of them are not accepted yet";
    return "connections to " + std::string(name_of(descriptor.kind)) + " " + name + backlog;
  }
  if (descriptor.kind == DescriptorKind::Pidfd) return "the end of process " + std::to_string(descriptor.process);
  const bool has_path = descriptor.path.starts_with('/');
  return has_path ? descriptor.path : std::string("a ") + name_of(descriptor.kind);
}

std::string bytes_there(const Side& other) {
  if (!other.to_read || *other.to_read == 0) return "";
  return "; " + std::to_string(*other.to_read) + " bytes are unread there";
}

// Returns the clause that names the holders of an end, and the consequences if the waiting process is one.
std::string holders(const Names& names, const Side& other, pid_t pid, const std::string& end, bool reads, bool polls) {
  std::vector<End> others;
  for (const End& held : other.ends) {
    if (held.pid != pid) others.push_back(held);
  }
  const std::vector<int> own = own_fds(other.ends, pid);
  if (others.empty() && own.empty()) return ", " + end + " end held by no visible process";
  if (others.empty()) {
    const std::string only = ", " + end + " end held only by itself (" + fds_text(own) + ")";
    if (polls) return only;
    return only + (reads ? ": neither data nor end of file can come from another process"
                         : ": no other process can take the data");
  }
  const std::string held = ", " + end + " end held by " + names.of(others);
  if (own.empty()) return held;
  return held + " and by itself (" + fds_text(own) + ")" +
         (reads && !polls ? ": it cannot see end of file, even if all others close theirs" : "");
}

std::string target_text(const Names& names, const Blocked& blocked) {
  const std::string text = "a connection to " + blocked.target;
  return blocked.pids.empty() ? text : text + ", not accepted yet by " + names.of(blocked.pids);
}

std::string pair_text(const Names& names, const Connection& pair, const Descriptor& descriptor, const Blocked& blocked,
                      bool reads) {
  const bool is_first = pair.sides[0].inode == descriptor.id.inode;
  const Side& other = pair.sides[is_first ? 1 : 0];
  const std::string text = describe(pair);
  if (pair.remote) return text + ", other end not on this machine";
  if (pair.unaccepted) return text + ", not accepted yet by " + names.of(other.ends);
  if (other.inode == 0) return text + ", other end closed";
  return text + holders(names, other, blocked.pid, "other", reads, blocked.polls) + (reads ? "" : bytes_there(other));
}

}  // namespace

std::string watch_text(const Connections& all, const Names& names, const Blocked& blocked, const Watch& watch) {
  const Descriptor* descriptor = all.descriptor(blocked.pid, watch.fd);
  if (descriptor == nullptr) return "a descriptor that could not be inspected";
  const Connection* connection = all.find(blocked.pid, watch.fd);
  if (connection == nullptr && !blocked.target.empty()) return target_text(names, blocked);
  if (connection == nullptr) return lone_descriptor(all, *descriptor);
  const bool reads = watch.reads || !watch.writes;
  if (connection->kind != ConnectionKind::Pipe) return pair_text(names, *connection, *descriptor, blocked, reads);
  const Side& other = connection->sides[reads ? 1 : 0];
  return describe(*connection) +
         holders(names, other, blocked.pid, reads ? "writing" : "reading", reads, blocked.polls);
}

std::string watches_text(const Connections& all, const Names& names, const Blocked& blocked) {
  std::string text;
  const std::size_t count = blocked.fds.size();
  for (std::size_t i = 0; i < count && i < kWatchesShown; ++i) {
    const std::string fd = count == 1 && !blocked.polls ? "" : "fd " + std::to_string(blocked.fds[i].fd) + " ";
    text += (i == 0 ? "" : "; ") + fd + watch_text(all, names, blocked, blocked.fds[i]);
  }
  return count > kWatchesShown ? text + "; and " + more(count - kWatchesShown) : text;
}

namespace {

std::string children_text(const Names& names, const Blocked& blocked) {
  if (blocked.pids.empty()) return "";
  const bool one = blocked.pids.size() == 1;
  return one ? " for " + names.of(blocked.pids[0]) + " to end"
             : " for one of its " + std::to_string(blocked.pids.size()) + " children to end: " + names.of(blocked.pids);
}

std::string held_by(const Names& names, const Blocked& blocked) {
  return blocked.pids.empty() ? "" : ", held by " + names.of(blocked.pids);
}

std::string running_text(const Blocked& blocked) {
  switch (blocked.state) {
    case 'R': return "is running";
    case 'Z':
    case 'X': return "has ended, not reaped by its parent";
    default: return "is outside system calls";
  }
}

std::string limit_text(const Blocked& blocked) {
  if (!blocked.bounded) return "";
  return blocked.limit.empty() ? ", with a time limit" : ", for at most " + blocked.limit;
}

std::string sleep_text(const Blocked& blocked) {
  return blocked.limit.empty() ? " until a fixed time" : " for " + blocked.limit;
}

std::string after_colon(const std::string& text) { return text.empty() ? "" : ": " + text; }

std::string waiting_text(const Connections& all, const Names& names, const Blocked& blocked) {
  const std::string in = "waits in " + blocked.call;
  switch (blocked.kind) {
    case BlockKind::None: return running_text(blocked);
    case BlockKind::Descriptors: return in + limit_text(blocked) + after_colon(watches_text(all, names, blocked));
    case BlockKind::Child: return in + children_text(names, blocked);
    case BlockKind::FileLock: return in + " for the lock of " + blocked.lock + held_by(names, blocked);
    case BlockKind::Futex: return in + limit_text(blocked) + ": " + blocked.lock + held_by(names, blocked);
    case BlockKind::Thread: return in + " for the end of " + blocked.lock;
    case BlockKind::Fifo: return in + " for the other end of the pipe to be opened";
    case BlockKind::Sleep: return "sleeps in " + blocked.call + sleep_text(blocked);
    case BlockKind::Signal: return in + " for a signal";
    case BlockKind::Other: return "is in " + blocked.call;
    case BlockKind::Unknown: break;
  }
  return "is in an unknown state: " + blocked.why_unknown;
}

}  // namespace

Names::Names(const Connections& all, const std::vector<Blocked>& blocked) {
  names_ = all.others;
  for (const Party& process : all.processes)
    names_[process.pid] = std::to_string(process.pid) + " (" + process.name + ")";
  for (const Blocked& thread : blocked) names_.insert(thread.strangers.begin(), thread.strangers.end());
}

std::string Names::of(pid_t pid) const {
  const auto name = names_.find(pid);
  return name == names_.end() ? std::to_string(pid) : name->second;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string Names::of(const std::vector<pid_t>& pids, std::size_t limit) const {
  std::vector<std::string> words;
  for (const pid_t pid : pids) {
    if (words.size() < limit) words.push_back(of(pid));
  }
  if (pids.size() > limit) words.push_back(more(pids.size() - limit));
  return joined(words);
}

std::string Names::of(const std::vector<End>& ends, std::size_t limit) const {
  std::vector<pid_t> pids;
  for (const End& end : ends) {
    if (pids.empty() || pids.back() != end.pid) pids.push_back(end.pid);
  }
  std::vector<std::string> words;
  for (const pid_t pid : pids) {
    if (words.size() < limit) words.push_back(of(pid) + " " + fds_text(own_fds(ends, pid)));
  }
  if (pids.size() > limit) words.push_back(more(pids.size() - limit));
  return words.empty() ? "no process" : joined(words);
}

std::string wait_text(const Connections& all, const Names& names, const Blocked& blocked) {
  const std::string text = waiting_text(all, names, blocked);
  if (blocked.state == 'T') return "is stopped by a signal; it " + text;
  if (blocked.state == 't') return "is stopped by a debugger; it " + text;
  if (blocked.state != 'D') return text;
  const bool known = !blocked.kernel_function.empty();
  return text + (known ? ", uninterruptible in the kernel function " + blocked.kernel_function : ", uninterruptible");
}

}  // namespace distrun::evidence
