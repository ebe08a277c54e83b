#include <distrun/evidence/task_state.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

#include <distrun/base/fd.hpp>
#include <distrun/base/text.hpp>
#include <distrun/evidence/proc_files.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kFileMax = 16 << 10;

std::string read_file(int directory, const char* name) { return read_proc_file(directory, name, kFileMax).text; }

base::Fd open_task(pid_t pid, pid_t tid) {
  const std::string path = proc_path(pid, "task/") + std::to_string(tid);
  return base::Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
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

// How a system call is written: of each argument, d: a number with a sign, u: one without, x: an address or a mask.
struct SyscallForm {
  long number;
  const char* name;
  const char* arguments;
};

// Where a thread of a test may be found waiting; of the others the number says enough.
constexpr SyscallForm kSyscalls[] = {
    {SYS_read, "read", "dxu"},
    {SYS_write, "write", "dxu"},
    {SYS_readv, "readv", "dxd"},
    {SYS_writev, "writev", "dxd"},
    {SYS_pread64, "pread64", "dxuu"},
    {SYS_pwrite64, "pwrite64", "dxuu"},
    {SYS_openat, "openat", "dxx"},
    {SYS_close, "close", "d"},
    {SYS_fsync, "fsync", "d"},
    {SYS_fdatasync, "fdatasync", "d"},
    {SYS_flock, "flock", "dd"},
    {SYS_fcntl, "fcntl", "ddx"},
    {SYS_ioctl, "ioctl", "dxx"},
    {SYS_connect, "connect", "dxu"},
    {SYS_accept, "accept", "dxx"},
    {SYS_accept4, "accept4", "dxxx"},
    {SYS_recvfrom, "recvfrom", "dxux"},
    {SYS_recvmsg, "recvmsg", "dxx"},
    {SYS_recvmmsg, "recvmmsg", "dxux"},
    {SYS_sendto, "sendto", "dxux"},
    {SYS_sendmsg, "sendmsg", "dxx"},
    {SYS_sendfile, "sendfile", "ddxu"},
    {SYS_splice, "splice", "dxdxu"},
    {SYS_ppoll, "ppoll", "xu"},
    {SYS_pselect6, "pselect6", "d"},
    {SYS_epoll_pwait, "epoll_pwait", "dxdd"},
    {SYS_epoll_pwait2, "epoll_pwait2", "dxdx"},
    {SYS_futex, "futex", "x"},
    {SYS_nanosleep, "nanosleep", ""},
    {SYS_clock_nanosleep, "clock_nanosleep", ""},
    {SYS_sched_yield, "sched_yield", ""},
    {SYS_wait4, "wait4", "dxx"},
    {SYS_waitid, "waitid", "ddxx"},
    {SYS_rt_sigsuspend, "rt_sigsuspend", ""},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", ""},
    {SYS_restart_syscall, "restart_syscall", ""},
    {SYS_exit, "exit", "d"},
    {SYS_exit_group, "exit_group", "d"},
    {SYS_clone, "clone", "x"},
    {SYS_clone3, "clone3", "xu"},
    {SYS_execve, "execve", "x"},
    {SYS_mmap, "mmap", "xuxxdx"},
    {SYS_munmap, "munmap", "xu"},
    {SYS_mprotect, "mprotect", "xux"},
    {SYS_madvise, "madvise", "xud"},
    {SYS_semtimedop, "semtimedop", "dxu"},
    {SYS_msgrcv, "msgrcv", "dxu"},
    {SYS_io_getevents, "io_getevents", "xdd"},
    {SYS_io_uring_enter, "io_uring_enter", "duu"},
#ifdef SYS_poll  // what only older architectures have
    {SYS_open, "open", "xx"},
    {SYS_poll, "poll", "xud"},
    {SYS_select, "select", "d"},
    {SYS_epoll_wait, "epoll_wait", "dxdd"},
    {SYS_pause, "pause", ""},
    {SYS_fork, "fork", ""},
    {SYS_vfork, "vfork", ""},
#endif
};

std::string argument_text(char kind, std::uint64_t value) {
  if (kind == 'd') return std::to_string(static_cast<std::int32_t>(value));
  if (kind == 'u') return std::to_string(value);
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string call_text(const SyscallForm& form, std::string_view arguments) {
  std::string text = form.name;
  if (*form.arguments == '\0') return text;
  text += '(';
  for (const char* kind = form.arguments; *kind != '\0'; ++kind) {
    std::uint64_t value = 0;
    if (!take_number(arguments, value, 16)) break;
    if (kind != form.arguments) text += ", ";
    text += argument_text(*kind, value);
  }
  return text + ')';
}

// "[<0>] do_wait+0x5/0x9" -> "do_wait", line by line.
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

// The number behind "Name:" in /proc/PID/status.
std::int64_t status_number(pid_t pid, std::string_view name) {
  const std::string status = read_file(AT_FDCWD, proc_path(pid, "status").c_str());
  const std::size_t at = status.find("\n" + std::string(name));
  if (at == std::string::npos) return -1;
  std::string_view rest = std::string_view(status).substr(at + 1 + name.size());
  std::int64_t value = -1;
  take_number(rest, value);
  return value;
}

// Name and state: "4711 (a name) S ...". The name may hold anything, parentheses too.
void read_stat(int directory, wire::TaskState& task) {
  const std::string stat = read_file(directory, "stat");
  const std::size_t begin = stat.find('(');
  const std::size_t end = stat.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end + 2 >= stat.size()) return;
  task.name = base::one_line(stat.substr(begin + 1, end - begin - 1), 64);
  task.state = static_cast<std::uint8_t>(stat[end + 2]);
}

}  // namespace

std::vector<pid_t> tasks_of(pid_t pid) {
  std::vector<pid_t> tids;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir(proc_path(pid, "task").c_str()), &::closedir);
  if (!tasks) return tids;
  while (const dirent* entry = ::readdir(tasks.get())) {
    std::string_view name = entry->d_name;
    pid_t tid = 0;
    if (take_number(name, tid) && tid != pid) tids.push_back(tid);
  }
  std::sort(tids.begin(), tids.end());
  tids.insert(tids.begin(), pid);
  return tids;
}

wire::TaskState read_task(pid_t pid, pid_t tid) {
  wire::TaskState task;
  task.tid = tid;
  const base::Fd directory = open_task(pid, tid);
  if (!directory) return task;
  read_stat(directory.get(), task);
  task.wchan = base::one_line(read_file(directory.get(), "wchan"), 64);
  if (task.wchan == "0") task.wchan.clear();
  task.syscall = describe_syscall(read_file(directory.get(), "syscall"));
  task.cpu_ns = cpu_ns_from(read_file(directory.get(), "schedstat"));
  if (task.state == 'D') task.kernel_stack = function_names(read_file(directory.get(), "stack"));
  return task;
}

Pulse read_pulse(pid_t pid, pid_t tid) {
  const base::Fd directory = open_task(pid, tid);
  if (!directory) return {};
  wire::TaskState task;
  read_stat(directory.get(), task);
  return {task.state, cpu_ns_from(read_file(directory.get(), "schedstat"))};
}

std::string command_of(pid_t pid) {
  return base::one_line(read_file(AT_FDCWD, proc_path(pid, "comm").c_str()), 64);
}

pid_t tracer_of(pid_t pid) { return static_cast<pid_t>(std::max<std::int64_t>(0, status_number(pid, "TracerPid:"))); }

std::int64_t user_of(pid_t pid) { return status_number(pid, "Uid:"); }

std::string describe_syscall(std::string_view line) {
  std::int64_t number = -1;
  if (!take_number(line, number) || number < 0) return "";  // "running", or stopped outside of any
  for (const SyscallForm& form : kSyscalls) {
    if (form.number == number) return call_text(form, line);
  }
  return "syscall " + std::to_string(number);
}

}  // namespace distrun::evidence
