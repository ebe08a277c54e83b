#pragma once
// The hosts that the ranks of the test run on. Ranks of several hosts share no memory, no /proc, no abstract sockets
// and no process ids: they reach each other by TCP at their hosts' addresses. distrun tells the ranks of such a world:
//
//   DISTRUN_HOSTS=node01=0-3;node02=4-7   the ranks of each host; the same for all ranks
//   DISTRUN_HOST_ADDRESS=10.77.1.2        where ranks of other hosts reach the ranks of this host
//
// Without these variables all ranks run on this host.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::core {

// Immutable, so thread-safe.
class Hosts {
 public:
  Hosts() = default;  // one host
  // Reads the texts of both variables; `rank` is one of this process's, -1: unknown. Throws Error{InvalidArgument} with
  // the variable, what is wrong with it, and what is expected.
  Hosts(std::string_view hosts, std::string_view address, int rank);

  bool are_several() const noexcept { return by_name_.size() > 1; }
  // Returns the name of this host; empty if there is only one, or if this process is not one of the test's ranks.
  const std::string& name() const noexcept { return name_; }
  // Returns the numeric IPv4 or IPv6 address of this host. "127.0.0.1" unless there are several hosts.
  const std::string& address() const noexcept { return address_; }
  // Returns the rank of this process, or one of them; -1: unknown, or there is only one host.
  int rank() const noexcept { return rank_; }
  // Returns the name of a rank's host; empty if there is only one host, or no such rank.
  std::string host_of(int rank) const;
  // Returns whether a rank runs on this host. Process ids and memory of other ranks have no meaning here.
  bool is_here(int rank) const { return !are_several() || (!name_.empty() && host_of(rank) == name_); }
  // Returns how many ranks all hosts have together; 0 if there is only one host.
  std::size_t rank_count() const noexcept { return by_rank_.size(); }

 private:
  void parse(std::string_view text);
  void add(std::string_view entry, std::string_view text);

  std::map<std::string, std::vector<int>> by_name_;
  std::map<int, std::string> by_rank_;
  std::string name_;
  int rank_ = -1;
  std::string address_ = "127.0.0.1";
};

// Returns the hosts of the running test, as the environment names them; it is parsed once for each text. The result
// lives until the process ends. Throws as Hosts' constructor.
const Hosts& hosts();
// Returns the same for callers that must not fail: without a usable environment there is one host.
const Hosts& known_hosts() noexcept;
// Says which rank this process works for, or one of them; otherwise $DISTRUN_RANK does.
void set_rank_of_process(int rank) noexcept;

}  // namespace distrun::core
