#pragma once
// Describes one thread's wait and the holders of each end. The texts may contain names chosen by other programs:
// connection_lines() makes whole lines safe for a terminal.
#include <map>
#include <string>
#include <vector>

#include <distrun/runner/evidence/waits/blocked_on.hpp>

namespace distrun::evidence {

// Maps processes to names: "4711 (server)".
class Names {
 public:
  Names(const Connections& all, const std::vector<Blocked>& blocked);
  std::string of(pid_t pid) const;
  // Returns "4711 (server), 4712 (worker) and 3 more".
  std::string of(const std::vector<pid_t>& pids, std::size_t limit = 4) const;
  // Returns "4711 (server) fd 5, 4712 (worker) fds 5 6".
  std::string of(const std::vector<End>& ends, std::size_t limit = 4) const;

 private:
  std::map<pid_t, std::string> names_;
};

// Returns "one, two and three".
std::string joined(const std::vector<std::string>& words);

// Returns "pipe 8812, writing end held by 4712 (worker) fd 4".
std::string watch_text(const Connections& all, const Names& names, const Blocked& blocked, const Watch& watch);
// The same for all descriptors of the wait: "fd 5 pipe 8812, ...; fd 6 ...". Empty if there are none.
std::string watches_text(const Connections& all, const Names& names, const Blocked& blocked);

// Returns "waits in read(5): pipe 8812, writing end held by 4712 (worker) fd 4". Begins with a verb.
std::string wait_text(const Connections& all, const Names& names, const Blocked& blocked);

}  // namespace distrun::evidence
