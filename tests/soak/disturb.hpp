#pragma once
// What happens to distrun while it runs: somebody kills one of its processes, or does not read what it says.
#include <chrono>
#include <string>

#include "fixtures/expected_soak.hpp"
#include "support/daemon.hpp"
#include "support/process.hpp"

namespace distrun::soak {

using testing::milliseconds;

// Kills the zygote, coordinator or guard of a run, or the daemon that has started it, once there is one. False: there
// was none any more, or none came within a second. `running` is what the user has started; `daemon` is null for a run
// without one.
bool strike(const testing::Running& running, const testing::Daemon* daemon, fixtures::Disturbs what);

// The reader of a pipe, made before the program whose output it is. Lives on one thread.
class Reader {
 public:
  // Throws std::system_error.
  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // The end to write to; to be closed with hand_over() once the program has it.
  int end_to_write() const noexcept { return write_; }
  void hand_over();
  // Nobody reads any more.
  void go_away();
  // Reads so much at a time, with this pause after each, until all writers are gone or `limit` is over. All that came.
  std::string read(std::size_t bytes, milliseconds pause, milliseconds limit);

 private:
  int read_ = -1;
  int write_ = -1;
};

}  // namespace distrun::soak
