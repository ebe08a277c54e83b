#pragma once
// For a scope: what the thread does is recorded, with all that goes on from there in other threads (callbacks, tasks),
// since the scope is a part of the thread's state (runtime/core/thread_state.hpp). Other threads know nothing of it. Of
// scopes within each other the innermost records.
//
//   profiler::Profile profile;
//   rpc_sync("worker1", add_twice, 1, 2);
//   profile.end();
//   for (const profiler::Event& each : profile.events()) ...   // "rpc_sync#add_twice(worker0 -> worker1)"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

class Recorder;  // recorder.hpp

class Profile {
 public:
  static constexpr std::size_t kLimit = 100'000;

  // Beyond `limit` events are only counted.
  explicit Profile(std::size_t limit = kLimit);
  ~Profile() { end(); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Nothing begins in it any more; what has begun is recorded when it ends. On the thread that made it: there the scope
  // around it records again. More than once is once.
  void end() noexcept;

  // Any thread. Those that have ended by now, in the order in which they began.
  std::vector<Event> events() const;
  // How many were only counted.
  std::uint64_t not_kept() const;

 private:
  std::shared_ptr<const void> around_;  // the thread's state before
  std::shared_ptr<const Recorder> recorder_;
};

}  // namespace distrun::profiler
