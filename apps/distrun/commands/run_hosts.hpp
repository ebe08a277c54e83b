#pragma once
// The hosts of a run with --hosts: what the run needs of runner/nodes. Lives on: the coordinator's loop.
#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/nodes/cluster.hpp>
#include <distrun/runner/run/run.hpp>

#include "options/options.hpp"

namespace distrun::cli {

class RunHosts {
 public:
  // Begins to start the nodes. `events` must outlive this. `on_ending` as for nodes::Cluster. Throws Error{Failed}.
  RunHosts(io::Loop& loop, const RunOptions& options, const proc::RunPlaces& places, runner::EventSink& events,
           std::function<void(const std::string& why)> on_ending);

  launch::Node& node() noexcept { return cluster_.nodes(); }
  // Waits for all hosts. Returns false if some do not come, which is a problem of the run, or after cancel(), which
  // interrupts it.
  io::Task<bool> assemble(runner::Run& run);
  // Makes assemble() end soon.
  void cancel();
  // Ends the nodes, and adds what they have found to the record.
  io::Task<void> end(runner::Run& run);

 private:
  io::Task<void> await_cancel();
  void add_problem(runner::Run& run, const char* phase, std::string text);

  io::Loop& loop_;
  runner::EventSink& events_;
  nodes::Cluster cluster_;
  bool is_assembled_ = false;
  bool is_cancelled_ = false;
  io::OneShot<bool> patience_over_;  // after a failure to assemble
};

}  // namespace distrun::cli
