#include "open_things.hpp"

#include <poll.h>

#include "members.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kStill = 20;  // this many snapshots without a change

// Counts threads, except those for the rank's handlers, which stay.
std::size_t count_threads() {
  std::size_t count = 0;
  for (const std::string& each : distrun::testing::names_in("/proc/self/task")) {
    if (distrun::testing::read_file("/proc/self/task/" + each + "/comm") != "distrun-pool\n") ++count;
  }
  return count;
}

}  // namespace

Open look_at_open() {
  const std::string maps = distrun::testing::read_file("/proc/self/maps");
  std::size_t shared = 0;
  for (std::size_t at = maps.find("rw-s"); at != std::string::npos; at = maps.find("rw-s", at + 1)) ++shared;
  return {distrun::testing::names_in("/proc/self/fd").size(), count_threads(), shared};
}

std::string Open::text() const {
  return std::to_string(descriptors) + " descriptors, " + std::to_string(threads) + " threads, " +
         std::to_string(mappings) + " mappings";
}

Open what_is_open(const Open& expected) {
  Open open = look_at_open();
  for (const base::TimePoint until = in(2s); !(open <= expected) && base::system_clock().now() < until;
       open = look_at_open()) {
    (void)::poll(nullptr, 0, 1);
  }
  return open;
}

Open settled_open() {
  Open open = look_at_open();
  for (int same = 0; same < kStill;) {
    (void)::poll(nullptr, 0, 1);
    const Open now = look_at_open();
    same = open <= now && now <= open ? same + 1 : 0;
    open = now;
  }
  return open;
}

}  // namespace distrun::rpc::testing
