#include <distrun/runner/evidence/waits/connections.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kProcessesMax = 1024;  // requested
constexpr std::size_t kOthersMax = 32'768;   // searched for other ends

bool is_socket(DescriptorKind kind) { return kind == DescriptorKind::UnixSocket || kind == DescriptorKind::Tcp; }

bool is_inet(DescriptorKind kind) { return kind == DescriptorKind::Tcp || kind == DescriptorKind::Udp; }

bool holds_any(const std::vector<Party>& processes, bool (*is_wanted)(DescriptorKind kind)) {
  return std::any_of(processes.begin(), processes.end(), [is_wanted](const Party& process) {
    const auto& list = process.descriptors.list;
    return std::any_of(list.begin(), list.end(),
                       [is_wanted](const Descriptor& descriptor) { return is_wanted(descriptor.kind); });
  });
}

Side side_of(const Socket& socket) {
  Side side;
  side.inode = socket.inode;
  side.name = socket.name;
  if (socket.state == SocketState::Listening) return side;  // its queue holds connections, not bytes
  side.to_read = socket.to_read;
  if (socket.kind == SocketKind::Tcp) side.to_send = socket.to_send;  // for Unix sockets it counts memory, not bytes
  return side;
}

// Builds the connections of the requested processes, then adds each end, including those of other processes.
class Builder {
 public:
  explicit Builder(const SocketTable& sockets) : sockets_(sockets) {}

  void add_connection(const Descriptor& descriptor) {
    if (descriptor.kind == DescriptorKind::Pipe) add_pipe(descriptor);
    if (!is_socket(descriptor.kind)) return;
    const Socket* socket = sockets_.find(descriptor.id.inode);
    if (socket == nullptr || socket->state == SocketState::Listening) return;
    if (socket->state != SocketState::Unconnected || socket->peer != 0) add_pair(*socket);
  }

  void add_end(pid_t pid, const Descriptor& descriptor) {
    const auto found = places_.find(descriptor.id);
    if (found == places_.end()) return;
    for (const auto& [connection, side] : found->second) {
      if (connection->kind != ConnectionKind::Pipe) {
        connection->sides[side].ends.push_back({pid, descriptor.fd});
        continue;
      }
      if (descriptor.reads) connection->sides[0].ends.push_back({pid, descriptor.fd});
      if (descriptor.writes) connection->sides[1].ends.push_back({pid, descriptor.fd});
    }
  }

  bool wants(const FileId& id) const { return places_.contains(id); }
  bool wants_path(const std::string& path) const { return paths_.contains(path); }
  bool empty() const { return places_.empty(); }

  std::vector<Connection> take() {
    std::vector<Connection> list;
    for (auto& [key, connection] : made_) {
      for (Side& side : connection.sides) std::sort(side.ends.begin(), side.ends.end());
      list.push_back(std::move(connection));
    }
    return list;
  }

 private:
  using Key = std::tuple<ConnectionKind, FileId, std::uint64_t>;

  void add_pipe(const Descriptor& descriptor) {
    const auto [at, is_new] = made_.try_emplace(Key{ConnectionKind::Pipe, descriptor.id, 0});
    if (!is_new) return;
    Connection& pipe = at->second;
    pipe.id = descriptor.id;
    for (Side& side : pipe.sides) side.inode = descriptor.id.inode;
    places_[descriptor.id].push_back({&pipe, 0});
    if (descriptor.id.device == 0) return;
    pipe.path = descriptor.path;
    paths_.insert(descriptor.path);
  }

  void add_pair(const Socket& socket) {
    const Socket* peer = sockets_.find(socket.peer);
    const Socket* first = &socket;
    const Socket* second = peer;
    if (peer != nullptr && !socket.unaccepted && peer->inode < socket.inode) std::swap(first, second);
    const auto kind = socket.kind == SocketKind::Unix ? ConnectionKind::Unix : ConnectionKind::Tcp;
    const auto [at, is_new] = made_.try_emplace(Key{kind, {0, first->inode}, second == nullptr ? 0 : second->inode});
    if (!is_new) return;
    Connection& pair = at->second;
    pair.kind = kind;
    pair.id.inode = first->inode;
    pair.sides[0] = side_of(*first);
    if (second != nullptr)
      pair.sides[1] = side_of(*second);
    else
      pair.sides[1].name = socket.peer_name;
    pair.unaccepted = socket.unaccepted;
    pair.remote = second == nullptr && kind == ConnectionKind::Tcp &&
                  (socket.state == SocketState::Connected || socket.state == SocketState::Connecting);
    places_[{0, first->inode}].push_back({&pair, 0});
    if (second != nullptr) places_[{0, second->inode}].push_back({&pair, 1});
  }

  const SocketTable& sockets_;
  std::map<Key, Connection> made_;
  std::map<FileId, std::vector<std::pair<Connection*, int>>> places_;
  std::set<std::string> paths_;  // of named pipes
};

// Returns whether a descriptor of another process is an end of a known connection; if so, fills `descriptor`.
bool concerns(const Builder& builder, int links, pid_t pid, int fd, Descriptor& descriptor) {
  const std::string name = std::to_string(fd);
  char link[4096];
  const ssize_t size = ::readlinkat(links, name.c_str(), link, sizeof link);
  if (size <= 0) return false;
  descriptor = parse_fd_link(fd, std::string_view(link, static_cast<std::size_t>(size)));
  if (builder.wants_path(descriptor.path)) identify_file(proc_path(pid, "fd/") + name, descriptor);
  if (!builder.wants(descriptor.id)) return false;
  parse_fdinfo(read_proc_file(proc_path(pid, "fdinfo/") + name).text, descriptor);
  return true;
}

// The parent and the time of the start: the second and the 20th number after the name, which may contain any character.
struct Birth {
  pid_t parent = 0;
  std::uint64_t start = 0;
};

Birth birth_of(pid_t pid) {
  const std::string stat = read_proc_file(proc_path(pid, "stat"), 1024).text;
  const std::size_t end = stat.rfind(')');
  Birth birth;
  if (end == std::string::npos) return birth;
  Words words(std::string_view(stat).substr(end + 1));
  words.skip(1);
  birth.parent = number_in<pid_t>(words.next()).value_or(0);
  words.skip(17);
  birth.start = number_in<std::uint64_t>(words.next()).value_or(0);
  return birth;
}

std::uint64_t oldest_start(const std::vector<Party>& processes) {
  std::uint64_t oldest = UINT64_MAX;
  for (const Party& process : processes) oldest = std::min(oldest, birth_of(process.pid).start);
  return oldest;
}

// An end that a requested process has made is passed on by inheritance; threads of the kernel inherit none.
bool may_have_inherited(pid_t pid, std::uint64_t oldest) {
  constexpr pid_t kKernel = 2;
  const Birth birth = birth_of(pid);
  return pid != kKernel && birth.parent != kKernel && birth.start >= oldest;
}

void look_at_other(Builder& builder, pid_t pid, std::uint64_t oldest, Connections& all) {
  const std::string place = proc_path(pid, "fd");
  const ProcNumbers fds = numbers_in(place, kDescriptorsMax);
  const bool is_hidden = fds.error == EACCES || fds.error == EPERM;
  if (is_hidden) ++all.hidden;
  if (is_hidden && !all.hidden_heirs) all.hidden_heirs = may_have_inherited(pid, oldest);
  if (fds.numbers.empty()) return;
  const base::Fd links(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const int fd : fds.numbers) {
    Descriptor descriptor;
    if (!concerns(builder, links.get(), pid, fd, descriptor)) continue;
    builder.add_end(pid, descriptor);
    if (!all.others.contains(pid)) all.others[pid] = describe_other(pid);
  }
}

void look_at_others(Builder& builder, Connections& all, std::chrono::milliseconds time) {
  if (builder.empty()) return;
  const auto end = base::deadline_after(time);
  const ProcNumbers pids = numbers_in("/proc", kOthersMax);
  const std::uint64_t oldest = oldest_start(all.processes);
  std::size_t looked_at = 0;
  for (const int pid : pids.numbers) {
    if (std::chrono::steady_clock::now() >= end) break;
    ++looked_at;
    if (all.process(pid) == nullptr) look_at_other(builder, pid, oldest, all);
  }
  const std::size_t left = pids.numbers.size() - looked_at;
  if (left == 0 && !pids.cut) return;
  all.others_cut = true;
  all.notes.push_back("other ends may be missing: there was no time to inspect " + std::to_string(left) +
                      (pids.cut ? " processes and more" : " processes"));
}

std::vector<Party> look_at_asked(std::vector<pid_t> pids, std::vector<std::string>& notes) {
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  if (pids.size() > kProcessesMax) {
    notes.push_back("only the first " + std::to_string(kProcessesMax) + " of " + std::to_string(pids.size()) +
                    " processes were inspected");
    pids.resize(kProcessesMax);
  }
  std::vector<Party> processes;
  std::map<std::string, std::vector<std::string>> hidden;  // by reason
  for (const pid_t pid : pids) {
    processes.push_back({pid, name_in(proc_path(pid, "")), descriptors_of(pid)});
    const Party& process = processes.back();
    const std::string who = std::to_string(pid) + " (" + process.name + ")";
    if (!process.descriptors.why_none.empty()) hidden[process.descriptors.why_none].push_back(who);
    if (process.descriptors.cut)
      notes.push_back(who + " has more than " + std::to_string(kDescriptorsMax) +
                      " descriptors; the others were not inspected");
  }
  for (const auto& [why, who] : hidden) {
    const std::string more = who.size() > 1 ? " and of " + std::to_string(who.size() - 1) + " more processes" : "";
    notes.push_back("the descriptors of " + who[0] + more + " cannot be read: " + why);
  }
  return processes;
}

std::string describe_pair(const Connection& pair) {
  const auto place = [](const Side& side) {
    if (side.inode == 0) return side.name.empty() ? std::string("(closed)") : side.name;
    return side.name.empty() ? std::to_string(side.inode) : std::to_string(side.inode) + " " + side.name;
  };
  if (pair.kind == ConnectionKind::Unix) return "unix " + place(pair.sides[0]) + " <-> " + place(pair.sides[1]);
  return "tcp " + pair.sides[0].name + " <-> " + pair.sides[1].name;
}

// The first connection of the list counts, as in the search without places.
void fill_places(Connections& all) {
  for (std::size_t i = 0; i < all.list.size(); ++i) {
    const Connection& connection = all.list[i];
    const bool is_pipe = connection.kind == ConnectionKind::Pipe;
    all.places.try_emplace({is_pipe, is_pipe ? connection.id : FileId{0, connection.sides[0].inode}}, i);
    if (!is_pipe && !connection.unaccepted) all.places.try_emplace({false, {0, connection.sides[1].inode}}, i);
  }
}

bool contains_pid(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace

std::string describe(const Connection& connection) {
  if (connection.kind != ConnectionKind::Pipe) return describe_pair(connection);
  return "pipe " + (connection.path.empty() ? std::to_string(connection.id.inode) : connection.path);
}

const Party* Connections::process(pid_t pid) const {
  const auto at = std::lower_bound(processes.begin(), processes.end(), pid,
                                   [](const Party& process, pid_t wanted) { return process.pid < wanted; });
  return at != processes.end() && at->pid == pid ? &*at : nullptr;
}

const Descriptor* Connections::descriptor(pid_t pid, int fd) const {
  const Party* found = process(pid);
  if (found == nullptr) return nullptr;
  const auto& fds = found->descriptors.list;
  const auto at = std::lower_bound(fds.begin(), fds.end(), fd,
                                   [](const Descriptor& descriptor, int wanted) { return descriptor.fd < wanted; });
  return at != fds.end() && at->fd == fd ? &*at : nullptr;
}

const Connection* Connections::find(pid_t pid, int fd) const {
  const Descriptor* wanted = descriptor(pid, fd);
  if (wanted == nullptr) return nullptr;
  const bool is_pipe = wanted->kind == DescriptorKind::Pipe;
  if (!is_pipe && !is_socket(wanted->kind)) return nullptr;
  if (!places.empty()) {
    const auto place = places.find({is_pipe, wanted->id});
    return place == places.end() ? nullptr : &list[place->second];
  }
  const auto at = std::find_if(list.begin(), list.end(), [&](const Connection& connection) {
    if (is_pipe || connection.kind == ConnectionKind::Pipe)
      return is_pipe && connection.kind == ConnectionKind::Pipe && connection.id == wanted->id;
    const bool second = !connection.unaccepted && connection.sides[1].inode == wanted->id.inode;
    return second || connection.sides[0].inode == wanted->id.inode;
  });
  return at == list.end() ? nullptr : &*at;
}

std::string describe_other(pid_t pid) {
  constexpr std::size_t kLengthMax = 48;  // it is repeated often
  const std::string stat = read_proc_file(proc_path(pid, "stat"), 1024).text;
  // The command line of a process in state D is not read: the read could hang as well.
  const std::string full = stat.rfind(") D ") == std::string::npos ? proc::describe_process(pid) : "";
  if (!full.empty() && full.size() <= kLengthMax) return full;
  return std::to_string(pid) + " (" + name_in(proc_path(pid, "")) + ")";
}

Connections find_connections(std::vector<pid_t> pids, std::chrono::milliseconds others_time) {
  Connections all;
  all.processes = look_at_asked(std::move(pids), all.notes);
  const bool has_inet = holds_any(all.processes, is_inet);
  if (has_inet || holds_any(all.processes, is_socket)) {
    std::vector<pid_t> looked_at;
    for (const Party& process : all.processes) looked_at.push_back(process.pid);
    all.sockets = read_sockets(looked_at, has_inet);
    all.notes.insert(all.notes.end(), all.sockets.notes.begin(), all.sockets.notes.end());
  }
  Builder builder(all.sockets);
  for (const Party& process : all.processes) {
    for (const Descriptor& descriptor : process.descriptors.list) builder.add_connection(descriptor);
  }
  for (const Party& process : all.processes) {
    for (const Descriptor& descriptor : process.descriptors.list) builder.add_end(process.pid, descriptor);
  }
  look_at_others(builder, all, others_time);
  all.list = builder.take();
  fill_places(all);
  return all;
}

std::vector<pid_t> other_side(const Connections& all, pid_t pid, int fd, bool reads) {
  const Connection* connection = all.find(pid, fd);
  std::vector<pid_t> pids;
  if (connection == nullptr) return pids;
  const bool is_pipe = connection->kind == ConnectionKind::Pipe;
  const bool is_first = is_pipe ? reads : connection->sides[0].inode == all.descriptor(pid, fd)->id.inode;
  for (const End& end : connection->sides[is_first ? 1 : 0].ends) {
    if (!contains_pid(pids, end.pid)) pids.push_back(end.pid);
  }
  return pids;
}

}  // namespace distrun::evidence
