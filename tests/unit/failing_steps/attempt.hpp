#pragma once
// Runs a scenario again and again, each time with another of its steps (steps.hpp) failing once. Which steps there are
// is what a first run of it has recorded; the list is not written by hand.
//
//   every_step_may_fail([](Attempt& attempt) {
//     HashStore store;                                      // before: nothing fails
//     attempt.may_fail([&] { store.set("key", "value"); });  // a step fails here: an error is reported, or it works
//     store.set("key", "other");                             // afterwards: the same objects work
//     require(store.get("key") == "other", "the store has the value");
//   });
//
// Each run is a process of its own, and must end by itself within a bound: a hang, std::terminate() or a crash is a
// fault of that step, and so is what require() finds, a signal that stays blocked and a descriptor that stays open.
#include <distrun/common/base/error.hpp>

#include <cstdint>
#include <functional>
#include <new>
#include <string>

#include "unit/failing_steps/steps.hpp"

namespace distrun::testing {

// A run has found a fault.
struct Fault {
  std::string text;
};

// Throws Fault unless `holds`.
inline void require(bool holds, const char* what) {
  if (!holds) throw Fault{std::string("does not hold: ") + what};
}

// A run of a scenario.
class Attempt {
 public:
  // Runs `act` while steps count. Returns false if it has thrown an error that a caller expects: ours but for a
  // timeout, since every answer comes, or std::bad_alloc.
  template <class Act>
  bool may_fail(const Act& act) const {
    try {
      const StepsCount counts;
      act();
      return true;
    } catch (const std::bad_alloc&) {
      return refused();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Timeout) throw Fault{"timed out: " + std::string(error.what())};
      return refused();
    }
  }
  // The same of calls: the error must say what was wanting.
  template <class Act>
  bool may_fail_for_want(const Act& act) const {
    return may_fail([&] {
      try {
        act();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::Timeout && !names_want(error)) {
          throw Fault{"does not say what was wanting: " + error.type() + ": " + error.what()};
        }
        throw;
      }
    });
  }
  // The same of what another rank is needed for, which may have failed before it could say so.
  template <class Act>
  bool may_fail_or_time_out(const Act& act) const {
    bool is_in_time = true;
    const bool is_done = may_fail([&] {
      try {
        act();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::Timeout) throw;
        is_in_time = false;
      }
    });
    return is_done && is_in_time;
  }

  // The same of a request over a connection that has just been cut.
  template <class Act>
  bool may_fail_or_be_cut(const Act& act) const {
    bool is_cut = false;
    const bool is_done = may_fail([&] {
      try {
        act();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::Disconnected) throw;
        is_cut = true;
      }
    });
    return is_done && !is_cut;
  }

 private:
  // Returns whether its text names memory, threads or descriptors.
  static bool names_want(const Error& error);
  // Where no step has failed, nothing may.
  static bool refused() {
    if (!has_failed_step()) throw Fault{"fails without a step that fails"};
    return false;
  }
};

// A case of Catch's: a failure names each step with a fault, and its stack. DISTRUN_FAILING_STEP=number runs that
// step alone.
void every_step_may_fail(const std::function<void(Attempt&)>& scenario);

}  // namespace distrun::testing
