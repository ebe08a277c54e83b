#include "unit/failing_steps/attempt.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "support/end_with.hpp"
#include "support/process.hpp"
#include "unit/support/forked.hpp"

namespace distrun::testing {
namespace {

constexpr int kBoundMs = 20000;          // of a run
constexpr std::uint32_t kTimesMax = 2;   // of the steps with one stack: the first ones
constexpr std::size_t kFaultsTold = 10;  // of a scenario
constexpr int kFaultCode = 3;

// The result of a run, in memory that it shares with its parent.
struct Shared {
  StepRecord record;
  int descriptors;      // that the recorded run has left
  std::size_t reached;  // runs that reached their step
  std::array<char, 2000> fault;
};

struct Unmap {
  void operator()(Shared* shared) const noexcept { ::munmap(shared, sizeof(Shared)); }
};
using SharedArea = std::unique_ptr<Shared, Unmap>;

SharedArea make_shared_area() {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return SharedArea(static_cast<Shared*>(memory));
}

int count_descriptors() {
  DIR* const directory = ::opendir("/proc/self/fd");
  int count = -1;  // its own
  while (const dirent* const each = ::readdir(directory)) count += each->d_name[0] != '.' ? 1 : 0;
  ::closedir(directory);
  return count;
}

bool has_mask(const sigset_t& before) {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  for (int number = 1; number < NSIG; ++number) {
    if (sigismember(&before, number) != sigismember(&now, number)) return false;
  }
  return true;
}

void run_checked(const std::function<void(Attempt&)>& scenario, std::optional<int> descriptors) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Attempt attempt;
  scenario(attempt);
  require(has_mask(before), "the signals are blocked that were blocked before");
  // A thread of an agent that has ended may close its last ones a moment later.
  const bool are_closed =
      !descriptors || eventually(std::chrono::seconds(5), [&] { return count_descriptors() <= *descriptors; });
  require(are_closed, "no descriptor is left open");
}

// In the process of the run. Returns its exit code.
int run_here(const std::function<void(Attempt&)>& scenario, Shared& shared, std::optional<int> descriptors) {
  const auto tell = [&shared](const std::string& text) {
    std::snprintf(shared.fault.data(), shared.fault.size(), "%s", text.c_str());
    return kFaultCode;
  };
  try {
    run_checked(scenario, descriptors);
    if (!descriptors) shared.descriptors = count_descriptors();
    shared.reached += has_failed_step() ? 1 : 0;
    return 0;
  } catch (const Fault& fault) {
    return tell(fault.text);
  } catch (const std::exception& thrown) {
    return tell("afterwards threw: " + std::string(thrown.what()));
  }
}

// A process that crashes leaves no core, and what it and std::terminate() say is in the report.
void become_run(pid_t parent) {
  end_with(parent);
  constexpr rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

bool ends_in_time(pid_t child) {
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  pollfd end{pidfd, POLLIN, 0};
  int found = 0;
  while ((found = ::poll(&end, 1, kBoundMs)) < 0 && errno == EINTR) continue;
  ::close(pidfd);
  return found == 1;
}

// Runs it in a child. Returns what is wrong; empty: nothing.
std::string run_in_child(const std::function<void(Attempt&)>& scenario, Shared& shared, std::optional<int> descriptors,
                         const std::function<void()>& prepare) {
  shared.fault[0] = '\0';
  const pid_t child = fork_child([&, parent = ::getpid()] {
    become_run(parent);
    prepare();
    return run_here(scenario, shared, descriptors);
  });
  const bool is_in_time = ends_in_time(child);
  if (!is_in_time) ::kill(child, SIGKILL);
  const ForkedEnd end = wait_for(child);
  if (!is_in_time) return "does not end";
  if (end.signal != 0) return std::string("ends by signal: ") + ::strsignal(end.signal);
  if (end.code == 0) return "";
  return end.code == kFaultCode ? shared.fault.data() : "ends with code " + std::to_string(end.code);
}

struct Planned {
  ChosenStep step;
  const StepSite* site;
};

// In an order that is the same each time the program is built.
std::vector<Planned> plan(const StepRecord& record) {
  std::vector<Planned> all;
  for (const StepSite& site : record.sites) {
    for (std::uint32_t nth = 1; nth <= std::min(site.times, kTimesMax); ++nth)
      all.push_back({{site.stack, nth}, &site});
  }
  std::ranges::sort(all, [](const Planned& a, const Planned& b) {
    return std::pair(a.site->pcs, a.step.nth) < std::pair(b.site->pcs, b.step.nth);
  });
  return all;
}

// The command that names the stack of a site: the frames in the program, each inside the instruction that calls.
std::string command_for(const StepSite& site) {
  std::array<char, 32> text;
  std::string command = "addr2line -Cfpie " + std::filesystem::read_symlink("/proc/self/exe").string();
  Dl_info own{}, found{};
  ::dladdr(reinterpret_cast<void*>(&every_step_may_fail), &own);
  for (std::uint32_t i = 0; i < site.frames; ++i) {
    if (::dladdr(site.pcs[i], &found) == 0 || found.dli_fbase != own.dli_fbase) continue;
    const auto at = static_cast<char*>(site.pcs[i]) - static_cast<char*>(own.dli_fbase) - 1;
    std::snprintf(text.data(), text.size(), " %tx", at);
    command += text.data();
  }
  return command;
}

std::string describe(std::size_t number, const Planned& planned, const std::string& fault) {
  return "step " + std::to_string(number) + " (" + planned.site->what + ", time " + std::to_string(planned.step.nth) +
         "): " + fault + "\n" + command_for(*planned.site) + "\n";
}

std::optional<std::size_t> only_step() {
  const char* const text = std::getenv("DISTRUN_FAILING_STEP");
  if (text == nullptr) return std::nullopt;
  return std::strtoul(text, nullptr, 10);
}

struct Result {
  std::size_t steps = 0;
  std::vector<std::string> told;  // by each step with a fault
};

// The first run records, the others fail one step each. One call starts all: what leads to a step is the same in each.
Result run_all(const std::function<void(Attempt&)>& scenario, Shared& shared) {
  Result result;
  std::vector<Planned> steps;
  const std::optional<std::size_t> only = only_step();
  for (std::size_t run = 0; run <= steps.size(); ++run) {
    const bool records = run == 0;
    if (!records && only && *only != run - 1) continue;
    const std::string fault =
        run_in_child(scenario, shared, records ? std::nullopt : std::optional(shared.descriptors),
                     [&] { records ? record_steps(shared.record) : fail_step(steps[run - 1].step); });
    if (records) {
      INFO("without a step that fails: " << fault);
      REQUIRE(fault.empty());
      steps = plan(shared.record);
      shared.reached = 0;
    } else if (!fault.empty()) {
      result.told.push_back(describe(run - 1, steps[run - 1], fault));
    }
  }
  result.steps = steps.size();
  return result;
}

}  // namespace

bool Attempt::names_want(const Error& error) {
  const std::string text = error.type() + ": " + error.what();
  return std::ranges::any_of(std::array{"memory", "Memory", "thread", "open files", "bad_alloc"},
                             [&](const char* each) { return text.find(each) != std::string::npos; });
}

void every_step_may_fail(const std::function<void(Attempt&)>& scenario) {
  prepare_steps();
  const SharedArea shared = make_shared_area();
  const Result result = run_all(scenario, *shared);
  REQUIRE(result.steps > 0);
  REQUIRE(shared->record.left_out == 0);
  std::string text;
  for (std::size_t i = 0; i < std::min(result.told.size(), kFaultsTold); ++i) text += result.told[i];
  INFO(result.told.size() << " of " << result.steps << " steps have a fault:\n" << text);
  CHECK(result.told.empty());
  INFO(shared->reached << " of " << result.steps << " steps came again in the run in which they were to fail");
  CHECK((only_step() || 2 * (shared->reached + result.told.size()) > result.steps));
}

}  // namespace distrun::testing
