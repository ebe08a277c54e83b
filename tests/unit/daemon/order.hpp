#pragma once
// Runs with a shell as their program, for tests of the daemon's handling of runs.
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/daemon.hpp>

namespace distrun::testing {

inline constexpr char kShell[] = "/bin/sh";

inline wire::Submission order(const std::string& script) { return {{"sh", "-c", script}, {"PATH=/usr/bin:/bin"}, 022}; }

// A run's output and start directory. The test reads `output`.
struct Place {
  explicit Place(const std::string& path = "/") : directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  std::vector<base::Fd> descriptors() const {
    std::vector<base::Fd> all;
    for (const int fd : {output.second.get(), output.second.get(), directory.get()}) {
      all.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    }
    return all;
  }
  // Returns all output; blocks while another process has the pipe open.
  std::string written() {
    output.second.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(output.first.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }

  base::FdPair output = base::make_pipe();
  base::Fd directory;
};

}  // namespace distrun::testing
