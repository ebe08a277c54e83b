#pragma once
// The messages by which a node joins, and those that keep a link alive.
//
//   node          Join, its first frame
//   coordinator   Joined, or Refused and the end of the connection
//   both          Ping, answered by Pong at once
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runner/launch/resources.hpp>

namespace distrun::launch {

DISTRUN_FIELDS(Resources, m.host, m.cpus, m.memory_available, m.gpus, m.why_no_gpu)

}  // namespace distrun::launch

namespace distrun::nodes {

struct Join {
  std::string host;      // as in the list of hosts
  std::string hostname;  // as the machine calls itself
  std::int32_t pid = 0;
  std::string version;                 // of distrun: must be the coordinator's
  std::vector<std::string> addresses;  // of the host: numeric
  launch::Resources resources{};       // of the host
};
DISTRUN_FIELDS(Join, m.host, m.hostname, m.pid, m.version, m.addresses, m.resources)

// Returns the message. Throws Error{InvalidArgument} for other bytes, if a text or list is too long, or if no machine
// has such resources.
Join read_join(wire::BytesView bytes);

struct Joined {
  std::string version;  // of distrun, on the coordinator's side
};
DISTRUN_FIELDS(Joined, m.version)

struct Refused {
  std::string why;
};
DISTRUN_FIELDS(Refused, m.why)

// Times are nanoseconds of the sender's monotonic clock.
struct Ping {
  std::int64_t sent_ns = 0;
};
DISTRUN_FIELDS(Ping, m.sent_ns)

struct Pong {
  std::int64_t ping_sent_ns = 0;  // as the ping says
  std::int64_t received_ns = 0;
  std::int64_t sent_ns = 0;
};
DISTRUN_FIELDS(Pong, m.ping_sent_ns, m.received_ns, m.sent_ns)

}  // namespace distrun::nodes
