#pragma once
// What work has touched which bytes, as far as it may still matter: an access is forgotten once a later one, after it
// in stream order, stands for it. Not thread-safe.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include <distrun/runtime/core/call_site.hpp>
#include <distrun/runtime/device/drivers/virtual/overlap.hpp>
#include <distrun/runtime/device/drivers/virtual/vector_clock.hpp>

namespace distrun::device::virtual_gpu {

struct AccessRecord {
  Lattice bytes;
  std::size_t stream = 0;   // by number, of VectorClock
  std::uint64_t count = 0;  // of the stream's clock
  std::uint64_t block = 0;  // number of the allocation that the bytes were then
  bool writes = false;
  const char* name = "";  // of the kernel; lives on
  core::CallSite site;
};

inline bool is_ordered(const AccessRecord& earlier, const VectorClock& now) noexcept {
  return earlier.count <= now.of(earlier.stream);
}

class AccessLog {
 public:
  // Calls `unordered` for each access that is in conflict with `fresh`: both have a byte in common, one writes, and the
  // clock of the fresh one, `now`, does not know the other. Then keeps it.
  void add(const AccessRecord& fresh, const VectorClock& now,
           const std::function<void(const AccessRecord&)>& unordered);
  // Accesses to bytes of [begin, end) that `known` knows are forgotten.
  void forget(std::int64_t begin, std::int64_t end, const VectorClock& known);
  void forget_all(const VectorClock& known);
  std::size_t size() const noexcept { return size_; }

 private:
  // By begin. Level i has those that reach over 2^(i-1) to 2^i bytes, so that those that reach to an address begin
  // within 2^i bytes before it.
  using Level = std::multimap<std::int64_t, AccessRecord>;

  // Calls visit(access) for all within the bounds; it says whether to keep it.
  template <class Visit>
  void visit(std::int64_t begin, std::int64_t end, const Visit& visit);

  std::array<Level, 64> levels_;
  std::size_t size_ = 0;
};

}  // namespace distrun::device::virtual_gpu
