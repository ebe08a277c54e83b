#include "debugger.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/pidfd.hpp>

#include "commands/reach.hpp"

namespace distrun::cli {
namespace {

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/" + name;
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  throw Error(ErrorKind::Failed, "--debug needs " + name + ", which is not in PATH; install it");
}

// Makes a process group the terminal's foreground group; meanwhile distrun is in the background.
void give_terminal_to(pid_t group) {
  if (::isatty(STDIN_FILENO) != 1) return;
  ::signal(SIGTTOU, SIG_IGN);
  ::tcsetpgrp(STDIN_FILENO, group);
}

}  // namespace

Debugger::Debugger(io::Loop& loop, launch::Node& node, int rank, std::string reach)
    : loop_(loop),
      node_(node),
      rank_(rank),
      reach_(std::move(reach)),
      gdb_(is_here(reach_) ? find_program("gdb") : ""),
      over_(loop) {}

void Debugger::on_rank_start(const std::string&, int, const runner::RankRecord& rank) {
  if (rank.rank != rank_) return;
  debugged_.rank = rank.rank;
  debugged_.pid = rank.pid;
  debugged_.host = rank.host;
}

// Returns a program and its arguments.
std::vector<std::string> Debugger::command() const {
  if (!gdb_.empty()) return {gdb_, "-q", "-p", std::to_string(debugged_.pid)};
  return {"/bin/sh", "-c", attach_command(reach_, debugged_)};
}

void Debugger::on_rank_phase(const std::string& id, int, int rank, wire::Phase phase) {
  if (rank != rank_ || phase != wire::Phase::Rendezvous || pid_ != 0) return;
  const std::string host = debugged_.host.empty() ? "" : " on " + base::one_line(debugged_.host);
  std::printf("gdb on rank %d%s (pid %d) of %s: it is stopped before its body; set breakpoints, then continue\n", rank,
              host.c_str(), debugged_.pid, id.c_str());
  std::fflush(stdout);
  std::vector<std::string> words = command();
  proc::ChildSpec spec;
  spec.program = words.front();
  spec.arguments.assign(words.begin() + 1, words.end());
  spec.environment = proc::inherited_environment();
  spec.descriptors = {{STDIN_FILENO, STDIN_FILENO}, {STDOUT_FILENO, STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}};
  proc::Child started = proc::start_helper(loop_.context(), spec);
  pid_ = started.pid;
  node_.spare(pid_);
  give_terminal_to(pid_);
  death_ = std::make_unique<io::FdWatch>(loop_, std::move(started.pidfd), [this] { on_death(); });
}

void Debugger::on_death() {
  if (!proc::try_reap(pid_)) return;
  death_.reset();
  give_terminal_to(::getpgrp());
  on_ended_();
  over_.set(true);
}

io::Task<void> Debugger::ended() {
  if (pid_ != 0) co_await over_.wait();
}

}  // namespace distrun::cli
