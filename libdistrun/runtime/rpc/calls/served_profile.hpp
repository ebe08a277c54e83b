#pragma once
// What is done here for a call of another worker, for whoever wants to know: its caller, to whom the events go with the
// answer, and profiles of all that the rank does for others (server_profile.hpp).
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

// Null: there is none.
const Section* profiler_section_of(const Message& message) noexcept;
// Reading them takes longer than an agent's thread has.
bool brings_many_events(const Message& answer) noexcept;

class ServedProfile {
 public:
  // Nobody wants to know: most calls.
  static bool is_wanted(const Message& call) noexcept;
  // `self` is who serves it. Null: as above, or what the caller wants makes no sense.
  static std::shared_ptr<ServedProfile> of(const Message& call, const core::RankState& rank, WorkerId self);
  ~ServedProfile();

  // For the thread's state, while it is served.
  std::shared_ptr<const void> recorder() const noexcept;
  // It is answered: nothing begins in it any more. Once; more than that is nothing.
  void end(Message& answer) noexcept;

 private:
  ServedProfile() = default;

  bool is_for_caller_ = false;
  std::vector<std::shared_ptr<ServerEvents>> for_rank_;
  std::shared_ptr<const profiler::Recorder> recorder_;
};

}  // namespace distrun::rpc
