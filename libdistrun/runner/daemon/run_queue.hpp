#pragma once
// Decides which runs wait and which may start: first come, first served, up to a limit. A run stopped by Ctrl-Z takes
// no slot; if it waits, it is passed over. A run with finished tests, which only waits for a reader of its output,
// takes no slot either. Knows only ids.
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace distrun::daemon {

class RunQueue {
 public:
  struct Limits {
    int parallel = 1;  // runs at the same time
    int queued = 100;  // waiting runs
  };

  explicit RunQueue(const Limits& limits) : limits_(limits) {}

  // Throws Error{Overloaded}, with advice, if the run would have to wait and the queue is full.
  void add(const std::string& run_id);
  // Returns the next run that may start and marks it as running.
  std::optional<std::string> next();
  // The run has ended or is no longer wanted. Unknown ids are ignored, here and below.
  void remove(const std::string& run_id);
  // A continued run may exceed the limit of parallel runs: no other run is delayed for it.
  void set_stopped(const std::string& run_id, bool stopped);

  // The run still exists, but its tests are over: it takes no slot any more.
  void set_over(const std::string& run_id);

  // Returns how many runs come before a waiting one, including those that run; 0 for others.
  int ahead(const std::string& run_id) const;
  bool is_stopped(const std::string& run_id) const;
  bool is_over(const std::string& run_id) const;
  const std::deque<std::string>& queued() const noexcept { return queued_; }

 private:
  // Counts runs that are running and neither stopped nor over.
  int places_taken() const;

  struct State {
    bool running = false;
    bool stopped = false;
    bool over = false;
  };
  Limits limits_;
  std::map<std::string, State> runs_;
  std::deque<std::string> queued_;  // in order of arrival
};

}  // namespace distrun::daemon
