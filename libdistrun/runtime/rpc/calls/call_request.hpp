#pragma once
// A call as its caller requests it.
#include <distrun/runtime/rpc/calls/callee.hpp>
#include <distrun/runtime/rpc/calls/destination.hpp>
#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::rpc {

// How the call was made, for its name in the caller's profile.
enum class CallMode : std::uint8_t { Sync, Async, Remote };

struct CallRequest {
  Destination to;
  Target target;
  Arguments arguments;
  std::vector<Section> sections{};     // further sections of the envelope, from other modules
  std::optional<DeviceMap> devices{};  // device map for the tensors; none: the session's map for that worker
  bool runs_late = false;              // run even if the caller's deadline has passed on arrival
  CallMode mode = CallMode::Async;     // Calls::call_and_wait() always uses Sync
  // True for users' calls, made on threads that may block. The runtime's calls are sent at once, without a limit.
  bool waits_for_room = false;
  bool holds_shutdown = true;   // a graceful shutdown waits until the call is answered or has timed out
  const char* shown = nullptr;  // lasting name (names.hpp) in waits, stacks and traces; null: the callee's name
};

}  // namespace distrun::rpc
