#pragma once
// Several hosts on one machine, for tests of what runs on more than one: scripts/cluster without Slurm and ssh. Each
// host has a network, processes, a host name, a monotonic clock and /tmp, /run, /dev/shm and /proc of its own; all
// other files are shared. Starting two hosts takes about 0.3 s.
#include <sys/types.h>

#include <string>
#include <vector>

#include "process.hpp"

namespace distrun::testing {

// Returns why this machine cannot imitate hosts, in a sentence; empty if it can. Tries it once for each process.
const std::string& why_no_hosts();
// A case that needs hosts begins with: skip_case_if(!hosts_possible(), why_no_hosts());
inline bool hosts_possible() { return why_no_hosts().empty(); }

struct ImitatedHost {
  std::string name;
  std::string address;  // at which the other hosts and the head reach it
  pid_t first = 0;      // its first process, which reaps orphans; as this machine counts processes
};

// Starts the hosts node01, node02, ..., and the host `head`, on which a user would start distrun. The destructor ends
// every process on them. So does the end of this process, by any signal. Not thread-safe.
class ImitatedHosts {
 public:
  // Every host sees the `shared` folders; without that only the head sees what is in this machine's /tmp. Throws
  // std::runtime_error if the hosts cannot be started.
  explicit ImitatedHosts(int count, const std::vector<std::string>& shared = {});
  ~ImitatedHosts();
  ImitatedHosts(const ImitatedHosts&) = delete;
  ImitatedHosts& operator=(const ImitatedHosts&) = delete;

  // The hosts without the head, in order: [0] is node01.
  const std::vector<ImitatedHost>& hosts() const noexcept { return hosts_; }
  const ImitatedHost& head() const noexcept { return head_; }
  // Throws std::out_of_range for an unknown name; "head" is known.
  const ImitatedHost& host(const std::string& name) const;

  // Starts a program on the host, with the command's environment, in its directory as the host sees it. Output goes to
  // `capture` as this process sees it. The ids of the program's processes are those of this machine, so that they can
  // be sent signals and looked up.
  Running start(const std::string& host, Command command) const;
  Ended run(const std::string& host, Command command, milliseconds limit = milliseconds(30'000)) const;

  // These change the network or the processes of a host (not of the head) as scripts/cluster-do explains, and return
  // when it has been done.
  void link_down(const std::string& host) const;  // others get "no route to host"
  void link_up(const std::string& host) const;
  void blackhole(const std::string& host) const;  // its packets vanish, both ways
  void undo(const std::string& host) const;       // of both
  void kill_all(const std::string& host) const;   // by SIGKILL; new programs can be started

 private:
  void await_start();
  void find_first_processes();
  void end() noexcept;
  void act(const char* option, const std::string& host) const;

  pid_t pid_ = 0;    // of scripts/cluster
  int input_ = -1;   // the cluster ends when this is closed
  int output_ = -1;  // what its command prints
  int errors_ = -1;  // a file in memory: why it did not start
  ImitatedHost head_;
  std::vector<ImitatedHost> hosts_;
};

// The calling thread uses the host's network while this exists: sockets that it creates stay there for ever. For tests
// that have both ends of a connection in one process.
class InNetworkOf {
 public:
  // Throws std::runtime_error if the host has gone.
  InNetworkOf(const ImitatedHosts& hosts, const std::string& host);
  ~InNetworkOf();
  InNetworkOf(const InNetworkOf&) = delete;
  InNetworkOf& operator=(const InNetworkOf&) = delete;

 private:
  int own_ = -1;
};

}  // namespace distrun::testing
