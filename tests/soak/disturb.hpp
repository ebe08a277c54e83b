#pragma once
// Disturbances of distrun while it runs: one of its processes is killed, or its output is not read.
#include <chrono>
#include <string>

#include "fixtures/expected_soak.hpp"
#include "support/daemon.hpp"
#include "support/process.hpp"

namespace distrun::soak {

using testing::milliseconds;

// Kills the zygote, coordinator or guard of a run, or the daemon that has started it, once it exists. Returns false if
// it was gone already, or did not appear within a second. `running` is the program that the user has started; `daemon`
// is null for a run without one.
bool strike(const testing::Running& running, const testing::Daemon* daemon, fixtures::Disturbs what);

// The reader of a pipe, created before the program that writes to it. Lives on one thread.
class Reader {
 public:
  // Throws std::system_error.
  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Returns the writing end; close it with hand_over() once the program has it.
  int end_to_write() const noexcept { return write_; }
  void hand_over();
  // Closes the reading end.
  void go_away();
  // Reads up to `bytes` at a time, with a `pause` after each, until all writers are gone or for `limit`. Returns all.
  std::string read(std::size_t bytes, milliseconds pause, milliseconds limit);

 private:
  int read_ = -1;
  int write_ = -1;
};

}  // namespace distrun::soak
