#include "daemon.hpp"

#include <signal.h>

#include <stdexcept>
#include <utility>

namespace distrun::testing {

Daemon::Daemon(std::string program, std::vector<std::string> options)
    : sandbox_(std::move(program)), options_(std::move(options)) {
  start();
}

Command Daemon::own_command(std::vector<std::string> arguments) const {
  Command command = sandbox_.command(std::move(arguments));
  command.arguments.insert(command.arguments.end(), {"--socket", socket()});
  return command;
}

void Daemon::start() {
  Command command = own_command(options_);
  command.capture = scratch_.path() + "/daemon";
  running_ = std::make_unique<Running>(std::move(command));
  if (!eventually(scaled(milliseconds(10'000)), [&] { return shows("done"); })) {
    throw std::runtime_error("the daemon does not answer: " + read_file(scratch_.path() + "/daemon.err"));
  }
}

void Daemon::kill() {
  running_->signal(SIGKILL);
  running_->wait(scaled(milliseconds(5000)));
}

Ended Daemon::stop() {
  running_->signal(SIGTERM);
  return running_->wait(scaled(milliseconds(15'000)));
}

std::string Daemon::status() const {
  Command command = own_command({"--status"});
  command.capture = scratch_.path() + "/status";
  return Running(std::move(command)).wait(scaled(milliseconds(10'000))).out;
}

Command Daemon::command(const Sandbox& sandbox, std::vector<std::string> arguments) const {
  Command command = sandbox.command(std::move(arguments));
  command.environment.push_back("DISTRUN_DAEMON_SOCKET=" + socket());
  return command;
}

}  // namespace distrun::testing
