#pragma once
// Counts this process's open resources, to check that a session returns what it took.
#include <cstddef>
#include <string>

namespace distrun::rpc::testing {

struct Open {
  std::size_t descriptors = 0, threads = 0, mappings = 0;  // mappings: shareable ones
  bool operator<=(const Open& other) const {
    return descriptors <= other.descriptors && threads <= other.threads && mappings <= other.mappings;
  }
  std::string text() const;
};

Open look_at_open();
// Resources may take a moment to be returned: waits until no more than `expected` are open.
Open what_is_open(const Open& expected);
// Waits until resources of an earlier session are returned.
Open settled_open();

}  // namespace distrun::rpc::testing
