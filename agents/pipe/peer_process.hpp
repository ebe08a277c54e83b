#pragma once
// A link's knowledge of its peer's process: its number, whether it has ended, and the errors that say so. Thread-safe.
#include <atomic>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::agents::pipe {

class PeerProcess {
 public:
  // Both must outlive this.
  PeerProcess(const rpc::WorkerInfo& peer, const std::string& address) : peer_(peer), address_(address) {}

  // They are connected; `is_here`: over a transport that connects processes of one machine only.
  void meet(int pid, bool is_here) noexcept {
    pid_.store(pid);
    has_met_here_.store(is_here);
  }
  // The number of the process that was met; 0: none was.
  int met_pid() const noexcept { return pid_.load(); }
  // The same, or else the number that its address says; 0: it is not known.
  int known_pid() const noexcept;
  // The peer's rank, even if its process has ended; -1: unknown.
  int rank() const noexcept;
  // Returns whether the peer is on another host and its connection has ended, or could not be made, as gone() or
  // unreachable() has told: nothing else tells of the end of a process there.
  bool was_cut_off() const noexcept { return was_cut_off_.load(); }
  // Returns whether the process is known to have ended; false: nothing is known.
  bool has_died() const noexcept;
  // Returns the error of a link with a connection that has ended, or could not be made, with the peer's process; `why`
  // is what the connection reports.
  Error gone(const std::string& why) const noexcept;
  Error unreachable(const std::string& why) const noexcept;

 private:
  const rpc::WorkerInfo& peer_;
  const std::string& address_;
  std::atomic<int> pid_{0};
  std::atomic<bool> has_met_here_{false};
  mutable std::atomic<bool> was_cut_off_{false};
};

}  // namespace distrun::agents::pipe
