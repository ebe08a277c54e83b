#pragma once
// A fixture that opens the default group of all ranks, with the run's backend, around each test. Skips the test if this
// distrun lacks the backend; the rank fails with every other error.
//
//   set-up      barrier, open the group, barrier: no rank ends before all have opened it
//   body
//   tear-down   barrier, then destroy the group if the body has not
//
// The barriers are the runner's, which end when a rank can no longer arrive, and report the culprit.
#include <chrono>
#include <memory>
#include <string>

#include <distrun/collectives.hpp>
#include <distrun/common/base/clock.hpp>
#include <distrun/test.hpp>

namespace distrun::suites {

class TestDistBackend : public Fixture {
 public:
  void set_up(Rank& rank) override;
  void tear_down(Rank& rank) override;

 protected:
  // Override it in a fixture that needs another timeout.
  virtual base::Nanoseconds group_timeout() const { return std::chrono::minutes(1); }
};

// Returns the rendezvous file of this test's group. The file of INIT_METHOD is left to tests that open a group again.
std::string group_file(const Rank& rank);

// Returns the place in the store of the ranks at which they meet instead if they run on several hosts, which share no
// files; null on one host. Each `ending` is a place of its own.
std::shared_ptr<Store> store_of_hosts(const std::string& ending = "");
// Returns the store at which the ranks of this test meet: at group_file() followed by `ending`, or in store_of_hosts().
// Throws what stores::rendezvous() throws.
std::shared_ptr<Store> meeting_store(const Rank& rank, const std::string& ending = "",
                                     base::Nanoseconds timeout = Store::kTimeout);

}  // namespace distrun::suites
