#pragma once
// Ranks of a contract's group that are processes.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/scratch.hpp"

namespace distrun::collectives {

// Runs in a separate process; returns the text of its exception.
using RankProcess = std::function<std::string(int rank, const std::string& store)>;

inline std::string read_all(int pipe) {
  std::string text;
  char some[512];
  for (ssize_t got = 0; (got = ::read(pipe, some, sizeof some)) > 0;) text.append(some, static_cast<std::size_t>(got));
  return text;
}

// Holds processes back until all are forked: a fork while the parent's threads serve the first one would copy locks
// that they hold, of the C++ runtime or of a sanitizer, and the child would wait for them forever.
class StartGate {
 public:
  StartGate() {
    if (::pipe(ends_) != 0) std::abort();
  }
  ~StartGate() { ::close(ends_[0]); }
  StartGate(const StartGate&) = delete;
  StartGate& operator=(const StartGate&) = delete;

  // Once, in the parent.
  void open() const { ::close(ends_[1]); }
  // Once, in a child.
  void pass() const {
    ::close(ends_[1]);
    read_all(ends_[0]);
  }

 private:
  int ends_[2];
};

// Returns the exception text of each process, and how it has ended if not well. All get the same path `store`.
inline std::vector<std::string> run_processes(int ranks, const RankProcess& process) {
  const testing::Scratch folder;
  const StartGate gate;
  std::vector<std::pair<pid_t, int>> members;
  for (int rank = 0; rank < ranks; ++rank) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    const pid_t pid = ::fork();
    if (pid == 0) {
      gate.pass();
      const std::string thrown = process(rank, folder.path() + "/store");
      const auto written = ::write(ends[1], thrown.data(), thrown.size());
      std::_Exit(written == static_cast<ssize_t>(thrown.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    members.emplace_back(pid, ends[0]);
  }
  gate.open();
  std::vector<std::string> thrown;
  for (const auto& [pid, pipe] : members) {
    thrown.push_back(read_all(pipe));
    ::close(pipe);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) thrown.back() += "it ended with status " + std::to_string(status);
  }
  return thrown;
}

}  // namespace distrun::collectives
