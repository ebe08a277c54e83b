#pragma once
// Runs distrun-probe for one order and returns its result. The probe touches processes in any state, so it may get
// stuck; it is killed at its bound, and what it has sent by then counts. Time during which the probe was ready to run
// but had no CPU extends the bound, at most by twice the bound. Lives on: the coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/io/frame_socket.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/launch/helper_process.hpp>

namespace distrun::launch {

// Returns how much to extend the bound of a snapshot that was extended by `extended`, if the awaited process had no CPU
// for `waited`: at most twice the bound in total, and not for normal scheduling. Zero: the time is over.
base::Nanoseconds extension_of(base::Nanoseconds bound, base::Nanoseconds waited, base::Nanoseconds extended);

struct ProbeResult {
  evidence::Stacks stacks;
  std::string error;             // why it is incomplete; empty: it is complete
  base::Nanoseconds extended{};  // extension of the bound, because the probe waited for a CPU
  // Processes that were not ordered: the index of the ordered one that has started each, by its own index. Unchecked.
  std::map<int, int> descendant_of{};
};

class Probe {
 public:
  struct Program {
    std::string path;  // of distrun-probe
    std::vector<std::string> environment;
  };

  // Calls `on_result` once, from the loop, within `bound` (three times that on a busy machine), unless the probe is
  // destroyed first; it may destroy it. Never throws: failures are an error in the result.
  Probe(io::Loop& loop, const Program& program, const wire::ProbeOrder& order, base::Nanoseconds bound,
        std::function<void(ProbeResult)> on_result);
  // Returns 0 if it could not be started.
  pid_t pid() const noexcept { return process_ ? process_->pid() : 0; }

 private:
  void start(const Program& program, const wire::ProbeOrder& order);
  void on_frame(const wire::Frame& frame);
  void take(wire::ProcessStacks process);
  void on_closed();
  void on_bound();
  void finish(std::string error);

  io::Loop& loop_;
  base::Nanoseconds bound_;
  base::Nanoseconds extended_{};
  std::function<void(ProbeResult)> on_result_;
  evidence::StacksBuilder builder_;
  std::map<int, int> descendant_of_;  // as in the result
  int descendants_left_ = 0;
  bool over_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // guards posted callbacks
  io::Alarm alarm_;
  std::unique_ptr<HelperProcess> process_;
  std::unique_ptr<io::FrameSocket> socket_;
};

}  // namespace distrun::launch
