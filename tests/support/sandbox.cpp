#include "sandbox.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "neighbour.hpp"

extern char** environ;

namespace distrun::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kUntagged[] = "fixture-untagged-";

constexpr char kRunDir[] = "distrun-";
constexpr const char* kSharedMemory = "/dev/shm";
constexpr const char* kTemp = "tmp";  // below a sandbox's directory

bool starts_with(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

// Variables that would change the behaviour of distrun or of the fixtures.
bool is_unwanted(std::string_view entry) {
  for (const char* head : {"DISTRUN_", "FIXTURE_", "TMPDIR=", "WORLD_SIZE=", "BACKEND=", "INIT_METHOD=", "TEMP_DIR=",
                           "MASTER_", "RANK=", "LOCAL_RANK=", "DISTRIBUTED_TESTS_", "ASAN_OPTIONS=", "TSAN_OPTIONS=",
                           "UBSAN_OPTIONS=", "CI=", "GITHUB_", "NO_COLOR=", "CLICOLOR", "FORCE_COLOR="}) {
    if (starts_with(entry, head)) return true;
  }
  return false;
}

// Crashes stay crashes in sanitizer builds, forks are allowed, and only real findings are reported.
std::vector<std::string> sanitizer_options() {
  const std::string common =
      "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:"
      "allow_user_segv_handler=1:abort_on_error=1";
  return {"ASAN_OPTIONS=" + common + ":detect_leaks=0",
          "TSAN_OPTIONS=" + common + ":die_after_fork=0:report_signal_unsafe=0:report_thread_leaks=0:atexit_sleep_ms=0",
          "UBSAN_OPTIONS=print_stacktrace=1"};
}

// /dev/shm is shared with other programs: names of distrun contain "distrun", names of fixtures "fixture".
bool may_be_of_a_run(std::string_view name) {
  return name.find("distrun") != std::string_view::npos || name.find("fixture") != std::string_view::npos ||
         is_untouchable(name);
}

// Returns the directory name of the run with the id in `name`; empty if `name` has no run id.
std::string run_dir_in(std::string_view name) {
  const std::size_t begin = name.find(kRunDir);
  if (begin == std::string_view::npos) return "";
  const std::size_t end = name.find_first_not_of("0123456789abcdef", begin + sizeof kRunDir - 1);
  return std::string(name.substr(begin, end - begin));
}

void remove_all(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace

double time_scale() {
  const char* text = std::getenv("DISTRUN_TIMEOUT_SCALE_FOR_TESTS");
  const double scale = text == nullptr ? 0 : std::atof(text);
  return scale > 0 ? scale : DISTRUN_TIME_SCALE;
}

milliseconds scaled(milliseconds length) {
  return milliseconds(static_cast<milliseconds::rep>(static_cast<double>(length.count()) * time_scale()));
}

double machine_load() {
  // "2.75 2.14 1.07 5/119 11396": the averages over 1, 5 and 15 minutes, then the runnable threads now.
  double minute = 0, ignored = 0, now = 0;
  std::ifstream("/proc/loadavg") >> minute >> ignored >> ignored >> now;
  const double cpus = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp(std::max(minute, now) / cpus, 1.0, 8.0);
}

milliseconds at_latest(milliseconds length) {
  return milliseconds(static_cast<milliseconds::rep>(static_cast<double>(scaled(length).count()) * machine_load()));
}

// The thread sanitizer creates the second kind of file briefly at program start; a kill can come in between.
bool is_untouchable(std::string_view name) { return starts_with(name, kUntagged) || starts_with(name, "tsan.rodata."); }

Sandbox::Sandbox(std::string program)
    : program_(std::move(program)),
      temp_(scratch_.directory(kTemp)),
      start_(scratch_.directory("start")),
      precious_(scratch_.directory("precious")),
      output_(scratch_.directory("out")),
      mark_("FIXTURE_MARK=" + scratch_.path()),
      shared_memory_before_(names_in(kSharedMemory)) {
  write_file(precious_ + "/keep", "precious");
}

Command Sandbox::command(std::vector<std::string> arguments) const {
  Command command;
  command.program = program_;
  command.arguments = std::move(arguments);
  command.directory = start_;
  command.capture = scratch_.path() + "/console";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!is_unwanted(*entry)) command.environment.emplace_back(*entry);
  }
  for (std::string& entry : sanitizer_options()) command.environment.push_back(std::move(entry));
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  command.environment.push_back("FIXTURE_DESCRIPTOR_LIMIT=" + std::to_string(descriptors.rlim_cur));
  command.environment.push_back("FIXTURE_START_DIR=" + start_);
  command.environment.push_back("FIXTURE_PRECIOUS_DIR=" + precious_);
  command.environment.push_back("FIXTURE_TEMP_DIR=" + temp_);
  command.environment.push_back("TMPDIR=" + temp_);
  command.environment.push_back("DISTRUN_HISTORY=off");
  command.environment.push_back("DISTRUN_NAMES_CACHE=off");
  command.environment.push_back(mark_);
  return command;
}

Ended Sandbox::run(std::vector<std::string> arguments, milliseconds limit) const {
  return start(std::move(arguments)).wait(at_latest(limit));
}

std::vector<ProcessInfo> Sandbox::processes() const {
  std::vector<ProcessInfo> found = living_processes();
  std::erase_if(found, [&](const ProcessInfo& info) { return !has_environment(info.pid, mark_); });
  return found;
}

std::string Sandbox::run_id_in_use() const {
  for (const ProcessInfo& info : processes()) {
    const std::string id = environment_of(info.pid, "DISTRUN_RUN_ID");
    if (!id.empty()) return id;
  }
  return "";
}

// Such a name belongs to a fixture or a run of a concurrent test; that test's sandbox removes it.
bool Sandbox::is_of_another_sandbox(const std::string& name) const {
  const fs::path own = scratch_.path();
  if (starts_with(name, kUntagged)) return name.find(own.filename().string()) == std::string::npos;
  const std::string run_dir = run_dir_in(name);
  if (run_dir.empty()) return false;
  std::error_code gone;  // other sandboxes come and go
  for (fs::directory_iterator at(own.parent_path(), gone), end; at != end && !gone; at.increment(gone)) {
    if (at->path() != own && exists((at->path() / kTemp / run_dir).string())) return true;
  }
  return false;
}

std::vector<std::string> Sandbox::new_shared_memory() const {
  std::vector<std::string> names = names_in(kSharedMemory);
  std::erase_if(names, [&](const std::string& name) {
    return !may_be_of_a_run(name) || is_of_another_sandbox(name) ||
           std::binary_search(shared_memory_before_.begin(), shared_memory_before_.end(), name);
  });
  return names;
}

// Names of a run that has just ended in another sandbox vanish within moments; names left by this sandbox stay.
std::vector<std::string> Sandbox::lasting_shared_memory() const {
  std::vector<std::string> names = new_shared_memory();
  std::erase_if(names, is_untouchable);
  for (int pass = 0; pass < 500 && !names.empty(); ++pass) {
    pause_for(milliseconds(1));
    std::erase_if(names, [](const std::string& name) { return !exists(std::string(kSharedMemory) + "/" + name); });
  }
  return names;
}

std::vector<std::string> Sandbox::remains() const {
  std::vector<std::string> found;
  for (const ProcessInfo& info : processes()) found.push_back(info.describe());
  for (const std::string& directory : {temp_, start_}) {
    for (const std::string& name : names_in(directory)) {
      if (!is_untouchable(name) && !is_of_neighbour(name)) found.push_back(directory + "/" + name);
    }
  }
  for (const std::string& name : lasting_shared_memory()) found.push_back(std::string(kSharedMemory) + "/" + name);
  if (read_file(precious_ + "/keep") != "precious") found.push_back(precious_ + "/keep has gone");
  return found;
}

void Sandbox::sweep() const {
  for (int pass = 0; pass < 50; ++pass) {
    const std::vector<ProcessInfo> left = processes();
    if (left.empty()) break;
    for (const ProcessInfo& info : left) kill(info.pid, SIGKILL);
    pause_for(milliseconds(1));
  }
  for (const std::string& directory : {temp_, start_}) {
    for (const std::string& name : names_in(directory)) remove_all(directory + "/" + name);
  }
  for (const std::string& name : new_shared_memory()) {
    remove_all(std::string(kSharedMemory) + "/" + name);
  }
}

}  // namespace distrun::testing
