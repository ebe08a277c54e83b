#include <distrun/runner/proc/child.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/process/v2/process.hpp>

#include <array>
#include <cerrno>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/proc/pidfd.hpp>

namespace distrun::proc {
namespace {

namespace process = boost::process::v2;

constexpr int kHighest = 4;  // the highest descriptor that a child receives

// Duplicates all sources to numbers above every target, so that placing one never overwrites another.
class Placement {
 public:
  explicit Placement(const ChildSpec& spec) {
    std::array<bool, kHighest + 1> named{};
    for (const auto& [source, target] : spec.descriptors) {
      add(source, target);
      named.at(static_cast<std::size_t>(target)) = true;
    }
    const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null) base::throw_errno("cannot open /dev/null as a child's standard input; is /dev mounted?", errno);
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard) {
      if (!named[static_cast<std::size_t>(standard)]) add(null.get(), standard);
    }
    while (first_closed_ <= kHighest && named[static_cast<std::size_t>(first_closed_)]) ++first_closed_;
  }
  const std::vector<std::pair<base::Fd, int>>& entries() const noexcept { return entries_; }
  // Returns the first descriptor number that the child does not have, nor any after it.
  int first_closed() const noexcept { return first_closed_; }

 private:
  void add(int source, int target) {
    const int high = ::fcntl(source, F_DUPFD_CLOEXEC, 16);
    // EINVAL: RLIMIT_NOFILE is below that number.
    if (high < 0) base::throw_errno("cannot duplicate a descriptor", errno == EINVAL ? EMFILE : errno);
    entries_.emplace_back(base::Fd(high), target);
  }
  std::vector<std::pair<base::Fd, int>> entries_;
  int first_closed_ = STDERR_FILENO + 1;
};

void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  }
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Returns false if the parent has already ended: the kernel sends the signal only for later deaths.
bool lead_session(pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  return ::getppid() == parent;
}

// Runs in the forked child: system calls only.
struct ChildSetUp {
  const Placement& placement;
  const ChildSpec& spec;
  const char* const* arguments;  // beginning with the name, ended by a null pointer
  pid_t parent;

  template <class Launcher>
  boost::system::error_code on_setup(Launcher&, const process::filesystem::path&, const char* const*& argv) const {
    argv = arguments;
    return {};
  }
  template <class Launcher>
  boost::system::error_code on_exec_setup(Launcher&, const process::filesystem::path&, const char* const*&) const {
    if (!spec.own_session) {
      ::setpgid(0, 0);
    } else if (!lead_session(parent)) {
      ::_exit(1);
    }
    if (spec.file_mask >= 0) ::umask(static_cast<mode_t>(spec.file_mask));
    for (const auto& [source, target] : placement.entries()) {
      if (::dup2(source.get(), target) < 0) return {errno, boost::system::system_category()};
    }
    ::close_range(static_cast<unsigned>(placement.first_closed()), ~0U, CLOSE_RANGE_CLOEXEC);
    reset_signals();
    return {};
  }
  // The launcher's exit() would run the parent's atexit handlers and flush its buffers a second time.
  template <class... Ignored>
  void on_exec_error(Ignored&&...) const {
    ::_exit(1);
  }
};

[[noreturn]] void throw_cannot_start(const ChildSpec& spec, int number) {
  throw Error(ErrorKind::Failed, "OSError", "cannot start " + spec.program + ": " + base::fork_errno_text(number));
}

// Opens a pidfd. If that fails, kills the child, since its end could not be observed.
Child watched(pid_t pid) {
  try {
    return {pid, open_pidfd(pid)};
  } catch (const Error&) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    throw;
  }
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts, const std::string* first = nullptr) {
  std::vector<char*> pointers;
  if (first != nullptr) pointers.push_back(const_cast<char*>(first->c_str()));
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The two parameter objects of posix_spawn.
class SpawnPlan {
 public:
  explicit SpawnPlan(const Placement& placement) {
    posix_spawn_file_actions_init(&actions_);
    for (const auto& [source, target] : placement.entries()) {
      posix_spawn_file_actions_adddup2(&actions_, source.get(), target);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions_, placement.first_closed());
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

Child start_helper(boost::asio::io_context& context, const ChildSpec& spec) {
  const Placement placement(spec);
  boost::system::error_code error;
  process::posix::default_launcher launcher;  // fork and exec; vfork breaks asio in the parent
  const std::vector<char*> environment = pointers_to(spec.environment);
  launcher.env = environment.data();
  const std::vector<char*> arguments = pointers_to(spec.arguments, spec.name.empty() ? &spec.program : &spec.name);
  // Uses the executor: the overload for contexts throws instead of setting `error`.
  auto started = launcher(context.get_executor(), error, process::filesystem::path(spec.program), spec.arguments,
                          ChildSetUp{placement, spec, arguments.data(), ::getpid()});
  if (error) {
    if (launcher.pid > 0) {  // it could not exec and is about to exit, unless it is stopped
      ::kill(launcher.pid, SIGKILL);
      ::waitpid(launcher.pid, nullptr, 0);
    }
    throw_cannot_start(spec, error.value());
  }
  const pid_t pid = started.id();
  started.detach();  // reaped by pidfd instead
  return watched(pid);
}

Child start_rank(const ChildSpec& spec) {
  const Placement placement(spec);
  const SpawnPlan plan(placement);
  const std::vector<char*> arguments = pointers_to(spec.arguments, &spec.program);
  const std::vector<char*> environment = pointers_to(spec.environment);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, spec.program.c_str(), plan.actions(), plan.attributes(), arguments.data(),
                                  environment.data());
  if (error != 0) throw_cannot_start(spec, error);
  return watched(pid);
}

std::vector<std::string> inherited_environment() {
  // Ranks get these only from their test's settings: some tests require their absence.
  static constexpr std::array<std::string_view, 9> kOurs{
      "RANK=",    "LOCAL_RANK=",  "WORLD_SIZE=", "MASTER_ADDR=", "MASTER_PORT=",
      "BACKEND=", "INIT_METHOD=", "TEMP_DIR=",   "DISTRUN_CPUS="};
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool ours = text.starts_with("DISTRUN_RUN_ID=");
    for (const std::string_view name : kOurs) ours = ours || text.starts_with(name);
    if (!ours) result.emplace_back(text);
  }
  return result;
}

}  // namespace distrun::proc
