#pragma once
// Which runs wait and which may start: first come, first served, so many at once. A run that its user has stopped with
// Ctrl-Z takes no place, and one that waits is passed over as long as it is stopped; nor does one whose tests are over,
// and which only waits for a reader of its output. Knows ids only.
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace distrun::daemon {

class RunQueue {
 public:
  struct Limits {
    int parallel = 1;  // that run at once
    int queued = 100;  // that wait
  };

  explicit RunQueue(const Limits& limits) : limits_(limits) {}

  // Throws Error{Overloaded}, with the way out, if as many wait as may, and this one would have to.
  void add(const std::string& run_id);
  // The next that may start; from now on it runs.
  std::optional<std::string> next();
  // It has ended, or is not wanted any more. Unknown ids are ignored, here and below.
  void remove(const std::string& run_id);
  // One that goes on may make more run than may start at once: nothing else is held up for it.
  void set_stopped(const std::string& run_id, bool stopped);

  // It runs, but its tests are over: it takes no place any more.
  void set_over(const std::string& run_id);

  // How many come before one that waits, those that run included; 0 for others.
  int ahead(const std::string& run_id) const;
  bool is_stopped(const std::string& run_id) const;
  bool is_over(const std::string& run_id) const;
  const std::deque<std::string>& queued() const noexcept { return queued_; }

 private:
  // Running, and neither stopped nor over.
  int places_taken() const;

  struct State {
    bool running = false;
    bool stopped = false;
    bool over = false;
  };
  Limits limits_;
  std::map<std::string, State> runs_;
  std::deque<std::string> queued_;  // in the order in which they came
};

}  // namespace distrun::daemon
