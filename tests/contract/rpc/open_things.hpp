#pragma once
// What this process has open, so that a session is seen to give back what it took.
#include <cstddef>
#include <string>

namespace distrun::rpc::testing {

struct Open {
  std::size_t descriptors = 0, threads = 0, mappings = 0;  // mappings: of what can be shared
  bool operator<=(const Open& other) const {
    return descriptors <= other.descriptors && threads <= other.threads && mappings <= other.mappings;
  }
  std::string text() const;
};

Open look_at_open();
// Whoever has just done its last does not hold what it had any more in a moment: waits for no more than `expected`.
Open what_is_open(const Open& expected);
// What of an earlier session is on its way out is not counted.
Open settled_open();

}  // namespace distrun::rpc::testing
