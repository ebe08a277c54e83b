#pragma once
// The daemon's command line, with all its flags.
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/daemon/log.hpp>

namespace distrun::daemon {

enum class Command { Serve, Status, Done };

struct Options {
  Command command = Command::Done;  // Done: help or the version was printed
  std::string socket;               // of the listening socket
  int parallel = 1;
  int queued = 100;
  base::Nanoseconds idle_exit{};  // 0: never
  LogLevel log = LogLevel::Warnings;
};

// Prints help itself. Throws Error{InvalidArgument} for a usage error, with a text for the user.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace distrun::daemon
