#include "spawner.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include <distrun/common/base/error.hpp>

#include "job.hpp"
#include "texts.hpp"

namespace distrun::pmix {
namespace {

constexpr std::size_t kRequests = 256;  // that wait to be served
constexpr int kProcesses = 1024;        // of one request

std::string proc_file(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

// Returns the environment with which the process has begun.
std::vector<std::string> environment_of(pid_t pid) {
  std::ifstream file(proc_file(pid, "environ"));
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::string> variables;
  for (std::size_t at = 0; at < all.size(); at += variables.back().size() + 1) {
    variables.push_back(all.substr(at, all.find('\0', at) - at));
  }
  return variables;
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

// Later variables take the place of earlier ones.
void add_variables(std::vector<std::string>& to, const std::vector<std::string>& more) {
  for (const std::string& each : more) {
    std::erase_if(to, [&](const std::string& other) { return name_of(other) == name_of(each); });
    to.push_back(each);
  }
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& each : texts) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What a process begins with, for posix_spawn().
class Beginning {
 public:
  Beginning() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~Beginning() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  // A pipe that is opened by its name in /proc is the same pipe.
  void take_outputs_of(pid_t pid) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, proc_file(pid, "fd/1").c_str(), O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, proc_file(pid, "fd/2").c_str(), O_WRONLY, 0);
  }
  void begin_in(const std::string& directory) { ::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str()); }
  // Signals as a new process has them; this one may ignore some.
  void join_group_of(pid_t pid) {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, ::getpgid(pid));
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  const posix_spawn_file_actions_t* actions() const noexcept { return &actions_; }
  const posix_spawnattr_t* attributes() const noexcept { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

Spawner::Spawner(Tell tell, const wire::MpiOrder& order)
    : tell_(std::move(tell)), order_(order), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) base::throw_errno("cannot create an event", errno);
}

pmix_status_t Spawner::request(const pmix_proc_t& parent, const pmix_app_t apps[], std::size_t count,
                               pmix_spawn_cbfunc_t on_done, void* context) {
  Request request{parent, {}, on_done, context};
  int processes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const pmix_app_t& app = apps[i];
    if (app.cmd == nullptr || app.maxprocs < 1 || app.maxprocs > kProcesses) return PMIX_ERR_BAD_PARAM;
    processes += app.maxprocs;
    if (processes > kProcesses) return PMIX_ERR_OUT_OF_RESOURCE;
    request.apps.push_back(
        {app.cmd, texts_of(app.argv), texts_of(app.env), app.cwd != nullptr ? app.cwd : "", app.maxprocs});
  }
  if (request.apps.empty()) return PMIX_ERR_BAD_PARAM;
  const std::lock_guard lock(mutex_);
  if (requests_.size() == kRequests) return PMIX_ERR_OUT_OF_RESOURCE;
  requests_.push_back(std::move(request));
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
  return PMIX_SUCCESS;
}

std::optional<Spawner::Child> Spawner::child_of(const pmix_proc_t& process) {
  const std::lock_guard lock(mutex_);
  const auto world = worlds_.find(process.nspace);
  if (world == worlds_.end() || process.rank >= world->second.size()) return std::nullopt;
  return world->second[process.rank];
}

void Spawner::add_process(int rank, pid_t pid) { pids_[order_.world][static_cast<pmix_rank_t>(rank)] = pid; }

void Spawner::work() {
  std::uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
  for (;;) {
    std::unique_lock lock(mutex_);
    if (requests_.empty()) break;
    const Request request = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    serve(request);
  }
  reap();
}

// The ranks of the order are known by their first process, children by the rank that has spawned the first of them.
void Spawner::serve(const Request& request) {
  const std::optional<Child> child = child_of(request.parent);
  const int rank = child ? child->rank : static_cast<int>(request.parent.rank);
  wire::MpiSpawned spawned{request.apps.front().program, {}, ""};
  std::string world;
  try {
    world = start(request, rank, spawned.pids);
  } catch (const Error& error) {
    spawned.error = error.text();
  }
  tell_(wire::pack(wire::MpiFrame::Spawned, static_cast<std::uint16_t>(rank), spawned));
  pmix_nspace_t name;
  PMIX_LOAD_NSPACE(name, world.c_str());
  request.on_done(spawned.error.empty() ? PMIX_SUCCESS : PMIX_ERR_JOB_FAILED_TO_LAUNCH, name, request.context);
}

// Returns the name of the new world.
std::string Spawner::start(const Request& request, int rank, std::vector<std::int32_t>& pids) {
  const pid_t parent = process_of(request.parent);
  Job job{order_.world + "-" + std::to_string(++worlds_begun_), {}, request.parent};
  std::vector<Child> children;
  for (const App& app : request.apps) {
    job.apps.push_back(app.count);
    children.insert(children.end(), static_cast<std::size_t>(app.count), Child{rank, app.program});
  }
  {
    const std::lock_guard lock(mutex_);
    worlds_[job.world] = std::move(children);
  }
  const std::vector<wire::RankVariables> variables = register_job(order_, job);
  pmix_rank_t number = 0;
  for (const App& app : request.apps) {
    for (int i = 0; i < app.count; ++i, ++number) {
      const pid_t pid = start_process(app, parent, variables[number].variables);
      pids_[job.world][number] = pid;
      running_[pid] = {rank, app.program};
      pids.push_back(pid);
    }
  }
  return job.world;
}

pid_t Spawner::process_of(const pmix_proc_t& parent) {
  const auto world = pids_.find(parent.nspace);
  if (world != pids_.end()) {
    const auto found = world->second.find(parent.rank);
    if (found != world->second.end()) return found->second;
  }
  throw Error(ErrorKind::Failed, "the process of the rank that spawns is not known");
}

pid_t Spawner::start_process(const App& app, pid_t parent, const std::vector<std::string>& more) {
  std::vector<std::string> environment = environment_of(parent);
  std::erase_if(environment, [](const std::string& each) { return each.starts_with("PMIX_"); });
  add_variables(environment, app.variables);
  add_variables(environment, more);
  std::vector<std::string> arguments = app.arguments;
  if (arguments.empty()) arguments.push_back(app.program);
  Beginning beginning;
  beginning.take_outputs_of(parent);
  beginning.begin_in(app.directory.empty() ? proc_file(parent, "cwd") : app.directory);
  beginning.join_group_of(parent);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, app.program.c_str(), beginning.actions(), beginning.attributes(),
                                   pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) throw Error(ErrorKind::Failed, "cannot start " + app.program + ": " + base::errno_text(error));
  return pid;
}

// Processes that were started before another failed to start are ended with the ranks.
void Spawner::reap() {
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG)) {
    const auto found = running_.find(pid);
    if (found == running_.end()) continue;
    const Child child = found->second;
    running_.erase(found);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (code == 0 && signal == 0) continue;
    tell_(wire::pack(wire::MpiFrame::Died, static_cast<std::uint16_t>(child.rank),
                     wire::MpiDied{child.program, code, signal}));
  }
}

}  // namespace distrun::pmix
