#pragma once
// Records the work of the thread for a scope, with the work that it causes in other threads (callbacks, tasks), since
// the profile is a part of the thread's state (runtime/core/thread_state.hpp), and the work of other workers for calls
// made in it. Unrelated threads are not recorded. Of nested scopes the innermost records.
//
//   profiler::Profile profile({.record_shapes = true});
//   rpc_sync("worker1", add_twice, 1, 2);
//   profile.end();
//   std::cout << profiler::table(profile.key_averages());
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <distrun/runtime/profiler/averages.hpp>
#include <distrun/runtime/profiler/event.hpp>
#include <distrun/runtime/profiler/options.hpp>

namespace distrun::profiler {

class Recorder;  // recorder.hpp

// A profile of the calling thread, from its construction to end(); see the top of this header.
class Profile {
 public:
  // Begins to record on the calling thread.
  explicit Profile(const ProfileOptions& options = {});
  ~Profile() { end(); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // No event begins in it any more; events that have begun are recorded when they end. Call it on the thread that
  // created the profile: there the enclosing scope records again. Idempotent.
  void end() noexcept;

  // Thread-safe. Returns the events that have ended, in the order in which they began.
  Events events() const;
  // Returns profiler::key_averages() of the events. Thread-safe.
  Averages key_averages(GroupBy group = {}) const { return profiler::key_averages(events(), group); }
  // Writes a file for chrome://tracing and compatible viewers (chrome_trace.hpp). Throws Error{Failed} if it can't be
  // written.
  void export_chrome_trace(const std::string& path) const;
  // Returns the number of events that were only counted.
  std::uint64_t not_kept() const;

 private:
  std::shared_ptr<const void> around_;  // former state of the thread
  std::shared_ptr<const Recorder> recorder_;
};

}  // namespace distrun::profiler
