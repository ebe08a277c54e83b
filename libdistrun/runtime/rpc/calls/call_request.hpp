#pragma once
// A call as whoever makes it asks for it.
#include <distrun/runtime/rpc/calls/callee.hpp>
#include <distrun/runtime/rpc/calls/destination.hpp>

namespace distrun::rpc {

struct CallRequest {
  Destination to;
  Target target;
  Arguments arguments;
  bool runs_late = false;  // also where the caller's time is over when it arrives
};

}  // namespace distrun::rpc
