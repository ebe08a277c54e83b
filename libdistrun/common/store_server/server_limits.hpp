#pragma once
// What all clients of a store's server together may make it hold in memory, besides the table and the requests that
// wait for keys. If a bound is reached the server reads no more from its clients, which wait, until there is room; a
// client that does not let it have any is disconnected.
#include <cstddef>

#include <distrun/common/base/clock.hpp>

namespace distrun::stores {

struct ServerLimits {
  std::size_t answers = std::size_t{512} << 20;   // bytes that clients have not taken yet
  std::size_t requests = std::size_t{512} << 20;  // bytes of large requests that have not arrived whole
  // While others wait for room: how long a client may take no byte of its answers; and how long it may need for all of
  // them, or to send a large request.
  base::Nanoseconds idle = std::chrono::seconds(5);
  base::Nanoseconds whole = std::chrono::seconds(30);
};

}  // namespace distrun::stores
