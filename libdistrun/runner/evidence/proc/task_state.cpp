#include <distrun/runner/evidence/proc/task_state.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>

#include <distrun/common/base/text.hpp>

namespace distrun::evidence {
namespace {

std::string read_file(pid_t pid, std::string_view name) {
  return read_short_file(AT_FDCWD, proc_path(pid, name).c_str()).text;
}

template <class Number>
bool take_number(std::string_view& text, Number& value, int radix = 10) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  if (radix == 16 && text.starts_with("0x")) text.remove_prefix(2);
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value, radix);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  return true;
}

// Turns "[<0>] do_wait+0x5/0x9" into "do_wait", line by line.
std::string function_names(std::string_view stack) {
  std::string names;
  for (const std::string& line : base::split_lines(stack)) {
    const std::size_t begin = line.find("] ");
    if (begin == std::string::npos) continue;
    names += line.substr(begin + 2, line.find('+') - begin - 2);
    names += '\n';
  }
  if (!names.empty()) names.pop_back();
  return names;
}

std::uint64_t cpu_ns_from(std::string_view schedstat) {
  std::uint64_t used = 0;
  take_number(schedstat, used);
  return used;
}

// Returns the second number of schedstat.
std::uint64_t wait_ns_from(std::string_view schedstat) {
  std::uint64_t used = 0, waited = 0;
  if (!take_number(schedstat, used) || schedstat.empty()) return 0;
  schedstat.remove_prefix(1);
  return take_number(schedstat, waited) ? waited : 0;
}

// Returns the number after "Name:" in the text of a file `status`.
std::int64_t number_in(const std::string& status, std::string_view name) {
  const std::size_t at = status.find("\n" + std::string(name));
  if (at == std::string::npos) return -1;
  std::string_view rest = std::string_view(status).substr(at + 1 + name.size());
  std::int64_t value = -1;
  take_number(rest, value);
  return value;
}

// Returns the number after "Name:" in /proc/PID/status.
std::int64_t status_number(pid_t pid, std::string_view name) { return number_in(read_file(pid, "status"), name); }

// Reads name and state: "4711 (a name) S ...". The name may contain any character, parentheses included.
void read_stat(const std::string& stat, wire::TaskState& task) {
  const std::size_t begin = stat.find('(');
  const std::size_t end = stat.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end + 2 >= stat.size()) return;
  task.name = base::one_line(stat.substr(begin + 1, end - begin - 1), 64);
  task.state = static_cast<std::uint8_t>(stat[end + 2]);
}

// Returns the sum of minor and major page faults, the 10th and 12th field; the state is the 3rd.
std::uint64_t faults_from(std::string_view stat) {
  constexpr int kMinor = 10, kMajor = 12;
  const std::size_t end = stat.rfind(')');
  if (end == std::string_view::npos || end + 3 >= stat.size()) return 0;
  std::string_view rest = stat.substr(end + 3);
  std::uint64_t sum = 0;
  for (int field = 4; field <= kMajor; ++field) {
    std::int64_t value = 0;
    if (!take_number(rest, value)) return sum;
    if (field == kMinor || field == kMajor) sum += static_cast<std::uint64_t>(value);
  }
  return sum;
}

}  // namespace

Tasks::Tasks(pid_t pid)
    : pid_(pid),
      directory_(::open(proc_path(pid, "task").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      error_(directory_ ? 0 : errno) {}

std::vector<pid_t> Tasks::ids() const {
  std::vector<pid_t> tids;
  if (!directory_) return tids;
  // A descriptor of its own, since a descriptor has one position in the list.
  const int again = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::fdopendir(again), &::closedir);
  if (!tasks) {
    if (again >= 0) ::close(again);
    return tids;
  }
  while (const dirent* entry = ::readdir(tasks.get())) {
    std::string_view name = entry->d_name;
    pid_t tid = 0;
    if (take_number(name, tid) && tid != pid_) tids.push_back(tid);
  }
  std::sort(tids.begin(), tids.end());
  tids.insert(tids.begin(), pid_);
  return tids;
}

ProcFile Tasks::read(pid_t tid, std::string_view name) const {
  if (!directory_) return {"", error_, false};
  return read_short_file(directory_.get(), (std::to_string(tid) + "/").append(name).c_str());
}

wire::TaskState read_name_and_state(const Tasks& tasks, pid_t tid) {
  wire::TaskState task;
  task.tid = tid;
  read_stat(tasks.read(tid, "stat").text, task);
  return task;
}

wire::TaskState read_task(const Tasks& tasks, pid_t tid) {
  wire::TaskState task = read_name_and_state(tasks, tid);
  task.wchan = base::one_line(tasks.read(tid, "wchan").text, 64);
  if (task.wchan == "0") task.wchan.clear();
  task.syscall = describe_syscall(tasks.read(tid, "syscall").text, task.wchan);
  task.cpu_ns = read_cpu_ns(tasks, tid);
  if (task.state == 'D') task.kernel_stack = function_names(tasks.read(tid, "stack").text);
  return task;
}

Pulse read_pulse(const Tasks& tasks, pid_t tid) {
  const std::string stat = tasks.read(tid, "stat").text;
  const std::string schedstat = tasks.read(tid, "schedstat").text;
  wire::TaskState task;
  read_stat(stat, task);
  return {task.state, cpu_ns_from(schedstat), wait_ns_from(schedstat), faults_from(stat)};
}

std::uint64_t read_cpu_ns(const Tasks& tasks, pid_t tid) { return cpu_ns_from(tasks.read(tid, "schedstat").text); }

std::int64_t sleeps_of(pid_t pid, pid_t tid) {
  return number_in(Tasks(pid).read(tid, "status").text, "voluntary_ctxt_switches:");
}

std::chrono::nanoseconds cpu_wait_of(pid_t pid) {
  const Tasks tasks(pid);
  std::uint64_t most = 0;
  for (const pid_t tid : tasks.ids()) most = std::max(most, wait_ns_from(tasks.read(tid, "schedstat").text));
  return std::chrono::nanoseconds(most);
}

std::chrono::nanoseconds cpu_time_of(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (pid <= 0 || ::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::optional<SyscallText> read_call(const Tasks& tasks, pid_t tid) {
  return parse_syscall(tasks.read(tid, "syscall").text);
}

std::string command_of(pid_t pid) { return base::one_line(read_file(pid, "comm"), 64); }

pid_t tracer_of(pid_t pid) { return static_cast<pid_t>(std::max<std::int64_t>(0, status_number(pid, "TracerPid:"))); }

namespace {

// Returns the ids that a process has in its namespaces, from ours inwards.
int count_of_ids(pid_t pid) {
  const std::string status = read_file(pid, "status");
  const std::size_t at = status.find("\nNSpid:");
  if (at == std::string::npos) return 0;
  Words words(std::string_view(status).substr(at + 7, status.find('\n', at + 1) - at - 7));
  int count = 0;
  while (!words.next().empty()) ++count;
  return count;
}

}  // namespace

// Our own process has one id in /proc of its own namespace.
bool has_other_ids(pid_t pid) { return count_of_ids(pid) != 1; }

pid_t process_of(pid_t tid) {
  if (tid <= 0) return 0;
  return static_cast<pid_t>(std::max<std::int64_t>(0, status_number(tid, "Tgid:")));
}

std::int64_t user_of(pid_t pid) { return status_number(pid, "Uid:"); }

}  // namespace distrun::evidence
