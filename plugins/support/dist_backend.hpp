#pragma once
// A fixture of suites whose tests find the default group open: of all ranks, with the backend of the run, around each
// test. A backend that this distrun does not have skips the test; every other error is the rank's.
//
//   set-up      the ranks meet, open the group, and meet again, so that nobody ends before all have opened it
//   body
//   tear-down   the ranks meet, and destroy the group if the body has not
//
// They meet by way of the runner, which ends the meeting when a rank can no longer come, and tells whose fault it is.
#include <chrono>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/test.hpp>

namespace distrun::suites {

class TestDistBackend : public Fixture {
 public:
  void set_up(Rank& rank) override;
  void tear_down(Rank& rank) override;

 protected:
  // Of the group; a suite that wants another one has a fixture that says so.
  virtual base::Nanoseconds group_timeout() const { return std::chrono::minutes(1); }
};

// Where it finds the other ranks: a file of this very test. That of INIT_METHOD is left to tests that open a group
// again.
std::string group_file(const Rank& rank);

}  // namespace distrun::suites
