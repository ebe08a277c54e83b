#pragma once
// The daemon's runs: the submissions of those that wait, and the processes of those that run. Independent of
// connections: reports progress by RunEvents. Lives on: the daemon's loop.
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
  std::function<void(const wire::RunEnded&)> on_ended;  // once, as the last
};

class Runs {
 public:
  // `program` is the path of distrun. `on_empty` is called when no run is left.
  Runs(io::Loop& loop, std::string program, const RunQueue::Limits& limits, std::function<void()> on_empty,
       Log log = {});

  // Returns the run's id. Throws Error{Overloaded} if too many runs wait.
  std::string add(wire::Submission order, std::vector<base::Fd> descriptors, RunEvents events);
  int ahead(const std::string& run_id) const { return queue_.ahead(run_id); }
  // Sends a signal as its terminal would; cancels a waiting run if the signal would end it. Ignores unknown ids.
  void signal(const std::string& run_id, int number);
  // The client is gone: ends the run, politely first, without further events.
  void abandon(const std::string& run_id);
  // `which` is an id or "all". Running ones get one Ctrl-C.
  wire::RunsCancelled cancel(const std::string& which);
  // Ends all runs, politely first; another call takes the next step at once.
  void end_all(const std::string& why);

  bool empty() const noexcept { return runs_.empty(); }
  std::uint64_t done() const noexcept { return done_; }
  // Returns the running ones, then the waiting ones in their order.
  std::vector<wire::DaemonRun> status() const;

 private:
  struct Run {
    wire::Submission order;
    std::vector<base::Fd> descriptors;  // until it starts and has its own
    std::string directory;              // where it was submitted
    RunEvents events;
    base::TimePoint since;  // since it entered its state
    int told_ahead = 0;
    std::string why;                      // why it is being ended; empty: it is not
    std::unique_ptr<RunProcess> process;  // null: waiting
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
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // guards posted callbacks
};

}  // namespace distrun::daemon
