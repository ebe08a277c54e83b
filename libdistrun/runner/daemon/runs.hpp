#pragma once
// The runs that the daemon has: those that wait, with what the client has sent, and the processes of those that go on.
// Knows nothing of connections; who has brought a run is told what becomes of it. Lives on: the daemon's loop.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/wire/daemon.hpp>
#include <distrun/runner/daemon/log.hpp>
#include <distrun/runner/daemon/run_process.hpp>
#include <distrun/runner/daemon/run_queue.hpp>

namespace distrun::daemon {

// None is called from within Runs::add().
struct RunEvents {
  std::function<void(int ahead)> on_position;
  std::function<void(pid_t)> on_started;
  std::function<void(const wire::RunEnded&)> on_ended;  // once, the last
};

class Runs {
 public:
  // `program`: distrun's path. `on_empty`: there is no run any more.
  Runs(io::Loop& loop, std::string program, const RunQueue::Limits& limits, std::function<void()> on_empty,
       Log log = {});

  // Returns its id. Throws Error{Overloaded} if too many wait.
  std::string add(wire::Submission order, std::vector<base::Fd> descriptors, RunEvents events);
  int ahead(const std::string& run_id) const { return queue_.ahead(run_id); }
  // As its terminal would send it. One that waits is cancelled by what would end it. Unknown ids are ignored.
  void signal(const std::string& run_id, int number);
  // Nobody wants it any more: it ends, politely first, and nobody is told.
  void abandon(const std::string& run_id);
  // `which` is an id or "all". One Ctrl-C for those that run.
  wire::RunsCancelled cancel(const std::string& which);
  // Ends all, politely first; called again, with less patience.
  void end_all(const std::string& why);

  bool empty() const noexcept { return runs_.empty(); }
  std::uint64_t done() const noexcept { return done_; }
  // Those that run, then those that wait, in their order.
  std::vector<wire::DaemonRun> status() const;

 private:
  struct Run {
    wire::Submission order;
    std::vector<base::Fd> descriptors;  // until it starts: then they are its own
    std::string directory;              // in which it was submitted
    RunEvents events;
    base::TimePoint since;  // in its state
    int told_ahead = 0;
    std::string why;                      // who ends it; empty: nobody
    std::unique_ptr<RunProcess> process;  // null: it waits
  };
  void go_on();
  void go_on_soon();
  void start(const std::string& run_id, Run& run);
  void tell_positions();
  void finish(const std::string& run_id, wire::RunEnded ended);
  void tell_end(const std::string& run_id, const Run& run, const wire::RunEnded& ended) const;
  proc::ChildSpec child_of(const std::string& run_id, const Run& run) const;
  wire::DaemonRun status_of(const std::string& run_id, const Run& run) const;

  io::Loop& loop_;
  std::string program_;
  RunQueue queue_;
  std::function<void()> on_empty_;
  Log log_;
  std::map<std::string, Run> runs_;
  std::uint64_t done_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what comes later
};

}  // namespace distrun::daemon
