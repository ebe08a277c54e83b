#pragma once
// A call as whoever makes it asks for it.
#include <distrun/runtime/rpc/calls/callee.hpp>
#include <distrun/runtime/rpc/calls/destination.hpp>
#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::rpc {

// What a caller's profile names it by.
enum class CallMode : std::uint8_t { Sync, Async, Remote };

struct CallRequest {
  Destination to;
  Target target;
  Arguments arguments;
  std::vector<Section> sections{};     // of the envelope, of other rooms
  std::optional<DeviceMap> devices{};  // where tensors go; nothing: as the session's map for that worker says
  bool runs_late = false;              // also where the caller's time is over when it arrives
  CallMode mode = CallMode::Async;     // Calls::call_and_wait() is Sync, whatever stands here
  // A user's, made by a thread that may block; the runtime's own are sent at once, however much is on its way.
  bool waits_for_room = false;
  bool holds_shutdown = true;   // a graceful shutdown waits until it is answered, or its time is over
  const char* shown = nullptr;  // what waits, stacks and traces call the callee; lasts (names.hpp). Null: its name
};

}  // namespace distrun::rpc
