#pragma once
// Records the work for another worker's call: for the caller, which gets the events with the answer, and for profiles
// of all that the rank does for others (server_profile.hpp).
#include <memory>
#include <vector>

#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::profiler {
class Recorder;  // profiler/recorder.hpp
}
namespace distrun::core {
class RankState;
}

namespace distrun::rpc {

class ServerEvents;  // server_profile.hpp

// Returns whether decoding the events takes too long for an agent's thread.
bool brings_many_events(const Message& answer) noexcept;

class ServedProfile {
 public:
  // Returns false for most calls: neither the caller nor the rank profiles them.
  static bool is_wanted(const Message& call) noexcept;
  // `self`: the serving worker. Returns null if no profile is wanted, or the caller's section is malformed.
  static std::shared_ptr<ServedProfile> of(const Message& call, const core::RankState& rank, WorkerId self);
  ~ServedProfile();

  // Returns the recorder for the thread's state while the call is served.
  std::shared_ptr<const void> recorder() const noexcept;
  // Called when the call is answered; nothing is recorded afterwards. Further calls have no effect.
  void end(Message& answer) noexcept;

 private:
  ServedProfile() = default;

  bool is_for_caller_ = false;
  std::vector<std::shared_ptr<ServerEvents>> for_rank_;
  std::shared_ptr<const profiler::Recorder> recorder_;
};

}  // namespace distrun::rpc
