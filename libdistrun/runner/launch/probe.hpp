#pragma once
// distrun-probe as the coordinator sees it: one order, and what came of it. The probe touches processes in any state,
// so it is the one that may be stuck; it is killed at its bound, and what it has told by then counts. The bound leaves
// out the time for which the probe was ready to run and had no CPU, up to twice the bound.
// Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/io/frame_socket.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/launch/helper_process.hpp>

namespace distrun::launch {

// By how much the bound of a look is to be extended, after it was by `extended`, if what it waits for has had no CPU
// for `waited`: twice the bound at most, and not for what is part of any schedule. Zero: it is over.
base::Nanoseconds extension_of(base::Nanoseconds bound, base::Nanoseconds waited, base::Nanoseconds extended);

struct ProbeResult {
  evidence::Stacks stacks;
  std::string error;             // why it could not do all of its part; empty: it could
  base::Nanoseconds extended{};  // by how much its bound was extended because it waited for a CPU
};

class Probe {
 public:
  struct Program {
    std::string path;  // of distrun-probe
    std::vector<std::string> environment;
  };

  // `on_result` is called once, from the loop, within `bound` (three times that on a busy machine), unless the probe is
  // destroyed before; it may destroy it. Never throws: what goes wrong is an error in the result.
  Probe(io::Loop& loop, const Program& program, const wire::ProbeOrder& order, base::Nanoseconds bound,
        std::function<void(ProbeResult)> on_result);
  // 0: it could not be started.
  pid_t pid() const noexcept { return process_ ? process_->pid() : 0; }

 private:
  void start(const Program& program, const wire::ProbeOrder& order);
  void on_frame(const wire::Frame& frame);
  void on_closed();
  void on_bound();
  void finish(std::string error);

  io::Loop& loop_;
  base::Nanoseconds bound_;
  base::Nanoseconds extended_{};
  std::function<void(ProbeResult)> on_result_;
  evidence::StacksBuilder builder_;
  bool over_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what is posted
  io::Alarm alarm_;
  std::unique_ptr<HelperProcess> process_;
  std::unique_ptr<io::FrameSocket> socket_;
};

}  // namespace distrun::launch
