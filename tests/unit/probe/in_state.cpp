#include "in_state.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/proc/child.hpp>

#include "support/process.hpp"

namespace distrun::testing {
namespace {

const char* program_of(fixtures::Build build) {
  switch (build) {
    case fixtures::Build::Lean: return DISTRUN_STATES_LEAN;
    case fixtures::Build::NoRanges: return DISTRUN_STATES_NO_RANGES;
    case fixtures::Build::Old: return DISTRUN_STATES_OLD;
    case fixtures::Build::Stripped: return DISTRUN_STATES_STRIPPED;
    case fixtures::Build::Plain: break;
  }
  return DISTRUN_STATES;
}

// Reads "ready 4711".
pid_t read_pid(const base::Fd& output) {
  std::string line;
  char c = 0;
  while (line.find('\n') == std::string::npos && ::read(output.get(), &c, 1) == 1) line += c;
  if (!line.starts_with("ready ")) throw std::runtime_error("the process did not get into its state: " + line);
  return std::stoi(line.substr(6));
}

}  // namespace

InState::InState(const std::string& mode, fixtures::Build build, std::vector<std::string> wrapper) {
  auto [read_end, write_end] = base::make_pipe();
  proc::ChildSpec spec;
  std::vector<std::string>& words = wrapper;
  words.insert(words.end(), {program_of(build), mode});
  spec.program = words.front();
  spec.arguments.assign(words.begin() + 1, words.end());
  spec.environment = proc::inherited_environment();
  spec.descriptors = {{write_end.get(), STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}};
  leader_ = proc::start_rank(spec).pid;
  write_end.reset();
  output_ = std::move(read_end);
  subject_ = read_pid(output_);
}

InState::~InState() {
  if (leader_ == 0) return;
  ::kill(-leader_, SIGKILL);
  ::waitpid(leader_, nullptr, 0);
}

bool InState::reaches(char task_state, bool wchan) const {
  return eventually(milliseconds(5'000), [&] {
    const wire::TaskState task = evidence::read_task(subject_, subject_);
    return task.state == static_cast<std::uint8_t>(task_state) && (!wchan || !task.wchan.empty());
  });
}

int InState::wait() {
  int status = 0;
  ::waitpid(leader_, &status, 0);
  leader_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace distrun::testing
