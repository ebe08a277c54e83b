#include <distrun/runner/proc/process_tree.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <set>
#include <sstream>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/pidfd.hpp>

namespace distrun::proc {
namespace {

std::string read_file(const std::string& path, std::size_t limit = std::size_t{1} << 20) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  while (file && text.size() < limit) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

void append_numbers(std::string_view text, std::vector<pid_t>& pids) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    pid_t pid = 0;
    const auto [next, error] = std::from_chars(at, end, pid);
    if (error == std::errc{}) pids.push_back(pid);
    at = next + 1;
  }
}

}  // namespace

void become_subreaper() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    base::throw_errno("cannot become the parent of orphaned processes", errno);
  }
}

namespace {

// Returns the directories of a process's threads; empty if it has ended or cannot be inspected.
std::vector<std::string> tasks_of(const std::string& process) {
  const std::string place = "/proc/" + process + "/task";
  std::vector<std::string> found;
  DIR* tasks = ::opendir(place.c_str());
  if (tasks == nullptr) return found;
  while (const dirent* entry = ::readdir(tasks)) {
    if (entry->d_name[0] != '.') found.push_back(place + "/" + entry->d_name);
  }
  ::closedir(tasks);
  return found;
}

// The kernel lists children by the thread that forked or adopted them.
std::vector<pid_t> children_of(const std::string& process) {
  std::vector<pid_t> pids;
  for (const std::string& task : tasks_of(process)) append_numbers(read_file(task + "/children"), pids);
  return pids;
}

// Returns /proc/PID/stat after the name, which may contain any character: " Z 1 4711 ...". Empty if it is gone.
std::string state_line(const std::string& task) {
  const std::string stat = read_file(task + "/stat", 1024);
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? "" : stat.substr(name_end + 1);
}

// When a process ends, each of its threads gets a SIGKILL, which some handle much later than others on a busy machine.
bool thread_is_ending(const std::string& task) {
  constexpr unsigned long kExiting = 0x4;  // PF_EXITING, unchanged since the first kernels
  constexpr unsigned long kKilled = 1UL << (SIGKILL - 1);
  std::istringstream fields(state_line(task));
  std::string skipped;
  unsigned long flags = 0, pending = 0;
  for (int i = 3; i < 9; ++i) fields >> skipped;  // state, parent, group, session, terminal, its group
  if (!(fields >> flags)) return true;
  for (int i = 10; i < 31; ++i) fields >> skipped;
  fields >> pending;
  return (flags & kExiting) != 0 || (pending & kKilled) != 0;
}

}  // namespace

std::vector<pid_t> own_children() { return children_of("self"); }

std::vector<pid_t> children_of(pid_t pid) { return children_of(std::to_string(pid)); }

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> tids;
  for (const std::string& task : tasks_of(std::to_string(pid))) append_numbers(task.substr(task.rfind('/') + 1), tids);
  return tids;
}

bool has_living_children(pid_t pid) {
  const std::vector<pid_t> children = children_of(pid);
  return std::any_of(children.begin(), children.end(), [](pid_t child) { return !is_zombie(child); });
}

std::string describe_process(pid_t pid) {
  const std::string place = "/proc/" + std::to_string(pid);
  std::string command = read_file(place + "/cmdline", 400);
  std::replace(command.begin(), command.end(), '\0', ' ');
  // A process forked by a rank still has the command line of the rank's zygote.
  if (command.find("distrun-rank --zygote ") != std::string::npos) command = "forked by a rank";
  command = base::one_line(command, 120);
  if (command.empty()) command = "[" + base::one_line(read_file(place + "/comm", 64), 64) + "]";
  return std::to_string(pid) + " (" + command + ")";
}

bool is_zombie(pid_t pid) { return state_line("/proc/" + std::to_string(pid)).starts_with(" Z"); }

bool is_stopped(pid_t pid) { return state_line("/proc/" + std::to_string(pid)).starts_with(" T"); }

std::string describe_state(pid_t pid) {
  const std::string line = state_line("/proc/" + std::to_string(pid));
  switch (line.size() > 1 ? line[1] : '?') {
    case 'T': return "it is stopped";
    case 't': return "it is held by a debugger";
    case 'D': return "it is in an uninterruptible system call";
    default: return "";
  }
}

bool is_ending(pid_t pid) {
  const std::vector<std::string> tasks = tasks_of(std::to_string(pid));
  return std::all_of(tasks.begin(), tasks.end(), thread_is_ending);
}

std::uint64_t tag_of(pid_t pid) {
  rlimit limit{};
  return ::prlimit(pid, RLIMIT_LOCKS, nullptr, &limit) == 0 ? limit.rlim_cur : 0;
}

void set_tag(std::uint64_t tag) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_LOCKS, &limit) != 0) return;
  limit.rlim_cur = tag;
  ::setrlimit(RLIMIT_LOCKS, &limit);
}

namespace {

class Roundup {
 public:
  explicit Roundup(const std::function<bool(pid_t)>& mine) : mine_(mine) {}

  // Repeats until no new process appears: then none is left that could fork. A process that keeps replacing itself may
  // escape one pass, but hardly all of them.
  void stop_all() {
    constexpr int kPasses = 50;
    for (int pass = 0; pass < kPasses && stop_new(); ++pass) {
    }
  }

  // Returns whether there was any process: the children of a reaped process become ours only now.
  bool kill_all() {
    for (const pid_t pid : stopped_) kill(pid);
    stopped_.clear();  // the pids of reaped processes may be reused
    endings_.left.clear();
    bool any = false;
    for (const pid_t pid : own_children()) {
      if (!mine_(pid)) continue;
      any = true;
      if (!reap(pid)) endings_.left.push_back(pid);
    }
    return any;
  }

  Endings take() {
    endings_.count = static_cast<int>(killed_.size());
    return std::move(endings_);
  }

 private:
  // Returns whether a process was new, or has ended and so may have left a child. Reaps dead processes at once: a
  // process that replaces itself fast leaves thousands of them, and a pass over all would take longer than it lives.
  // The youngest come first, since those are the ones that run.
  bool stop_new() {
    bool any = false;
    const std::vector<pid_t> children = own_children();
    for (auto pid = children.rbegin(); pid != children.rend(); ++pid) {
      if (mine_(*pid)) any = reap(*pid) || stop(*pid, false) || any;
    }
    return any;
  }

  bool reap(pid_t child) {
    if (!try_reap(child)) return false;
    stopped_.erase(child);
    return true;
  }

  // Sends the signal before any inspection: the process may replace itself at any moment.
  bool stop(pid_t pid, bool below_named) {
    bool any = stopped_.insert(pid).second;
    if (any) ::kill(pid, SIGSTOP);
    // A process that was killed in an earlier round may not have reacted yet.
    if (any && !below_named && !killed_.contains(pid) && !is_ending(pid)) name(pid);
    below_named = below_named || named_.contains(pid);
    for (const pid_t child : proc::children_of(pid)) any = stop(child, below_named) || any;
    return any;
  }

  void name(pid_t pid) {
    named_.insert(pid);
    endings_.named.push_back(describe_process(pid));
  }

  void kill(pid_t pid) {
    if (!is_ending(pid)) killed_.insert(pid);
    ::kill(pid, SIGKILL);
  }

  const std::function<bool(pid_t)>& mine_;
  std::set<pid_t> stopped_;
  std::set<pid_t> named_;
  std::set<pid_t> killed_;
  Endings endings_;
};

}  // namespace

Endings end_children(const std::function<bool(pid_t)>& mine, int rounds) {
  Roundup roundup(mine);
  for (int round = 0; round < rounds; ++round) {
    roundup.stop_all();
    if (!roundup.kill_all()) break;
    ::poll(nullptr, 0, 1);  // gives the dying processes the CPU
  }
  return roundup.take();
}

}  // namespace distrun::proc
