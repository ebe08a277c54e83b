#pragma once
// For a scope: what the thread does is recorded, with all that goes on from there in other threads (callbacks, tasks),
// since the scope is a part of the thread's state (runtime/core/thread_state.hpp), and what other workers do for calls
// that are made in it. Other threads know nothing of it. Of scopes within each other the innermost records.
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

class Profile {
 public:
  explicit Profile(const ProfileOptions& options = {});
  ~Profile() { end(); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Nothing begins in it any more; what has begun is recorded when it ends. On the thread that made it: there the scope
  // around it records again. More than once is once.
  void end() noexcept;

  // Any thread. Those that have ended by now, in the order in which they began.
  Events events() const;
  Averages key_averages(GroupBy group = {}) const { return profiler::key_averages(events(), group); }
  // A file for chrome://tracing and what reads the same (chrome_trace.hpp). Throws Error{Failed} if it can't be
  // written.
  void export_chrome_trace(const std::string& path) const;
  // How many were only counted.
  std::uint64_t not_kept() const;

 private:
  std::shared_ptr<const void> around_;  // the thread's state before
  std::shared_ptr<const Recorder> recorder_;
};

}  // namespace distrun::profiler
