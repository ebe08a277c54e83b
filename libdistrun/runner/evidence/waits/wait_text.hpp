#pragma once
// One thread's wait, and who holds which end, in words. The texts may hold what other programs chose as names: they
// are made safe for a terminal as whole lines, by connection_lines().
#include <map>
#include <string>
#include <vector>

#include <distrun/runner/evidence/waits/blocked_on.hpp>

namespace distrun::evidence {

// What processes are called: "4711 (server)".
class Names {
 public:
  Names(const Connections& all, const std::vector<Blocked>& blocked);
  std::string of(pid_t pid) const;
  // "4711 (server), 4712 (worker) and 3 more".
  std::string of(const std::vector<pid_t>& pids, std::size_t limit = 4) const;
  // "4711 (server) fd 5, 4712 (worker) fds 5 6".
  std::string of(const std::vector<End>& ends, std::size_t limit = 4) const;

 private:
  std::map<pid_t, std::string> names_;
};

// "one, two and three".
std::string joined(const std::vector<std::string>& words);

// "waits in read(5): pipe 8812, whose writing end is held by 4712 (worker) fd 4". Begins with a verb.
std::string wait_text(const Connections& all, const Names& names, const Blocked& blocked);

}  // namespace distrun::evidence
