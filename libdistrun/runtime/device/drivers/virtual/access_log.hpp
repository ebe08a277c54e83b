#pragma once
// The accesses of work to bytes, as far as they still matter: an access is dropped once a later one, after it in stream
// order, covers it. Not thread-safe.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include <distrun/runtime/core/call_site.hpp>
#include <distrun/runtime/device/drivers/virtual/vector_clock.hpp>
#include <distrun/runtime/device/overlap.hpp>

namespace distrun::device::virtual_gpu {

struct AccessRecord {
  Lattice bytes;
  std::size_t stream = 0;   // its number in VectorClock
  std::uint64_t count = 0;  // value of the stream's clock
  std::uint64_t block = 0;  // number of the bytes' allocation at that time
  bool writes = false;
  const char* name = "";  // kernel name; must live until the process ends
  core::CallSite site;
};

inline bool is_ordered(const AccessRecord& earlier, const VectorClock& now) noexcept {
  return earlier.count <= now.of(earlier.stream);
}

class AccessLog {
 public:
  // Calls `unordered` for each access that conflicts with `fresh`: both share a byte, one writes, and `now`, the clock
  // of the fresh one, does not include the other. Then stores `fresh`.
  void add(const AccessRecord& fresh, const VectorClock& now,
           const std::function<void(const AccessRecord&)>& unordered);
  // Drops accesses to bytes of [begin, end) that `known` includes.
  void forget(std::int64_t begin, std::int64_t end, const VectorClock& known);
  void forget_all(const VectorClock& known);
  std::size_t size() const noexcept { return size_; }

 private:
  // Sorted by begin. Level i has accesses with an extent of 2^(i-1) to 2^i bytes, so that those that reach an address
  // begin within 2^i bytes before it.
  using Level = std::multimap<std::int64_t, AccessRecord>;

  // Calls visit(access) for all within the bounds; it returns whether to keep the access.
  template <class Visit>
  void visit(std::int64_t begin, std::int64_t end, const Visit& visit);

  std::array<Level, 64> levels_;
  std::size_t size_ = 0;
};

}  // namespace distrun::device::virtual_gpu
