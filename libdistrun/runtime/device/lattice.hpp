#pragma once
// The bytes of a region as runs at regular distances. Pure functions.
#include <cstdint>
#include <optional>
#include <vector>

#include <distrun/runtime/device/memory/region.hpp>

namespace distrun::device {

// Contiguous bytes are one run; dimensions are sorted by falling stride, and different indices lead to different
// addresses.
struct Lattice {
  struct Step {
    std::int64_t stride = 0;  // bytes, positive
    std::int64_t count = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };

  std::int64_t begin = 0;  // the lowest address
  std::int64_t end = 0;    // one past the highest
  std::int64_t run = 0;    // bytes
  std::vector<Step> steps;

  bool has_holes() const noexcept { return !steps.empty(); }
  friend bool operator==(const Lattice&, const Lattice&) = default;
};

// Returns nothing for a region without elements.
std::optional<Lattice> lattice_of(const Region& region);

}  // namespace distrun::device
