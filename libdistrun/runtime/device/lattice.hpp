#pragma once
// The bytes of a region as runs at regular distances. Pure.
#include <cstdint>
#include <optional>
#include <vector>

#include <distrun/runtime/device/memory/region.hpp>

namespace distrun::device {

// What is contiguous is one run, dimensions are by falling stride, and each leads to a place of its own.
struct Lattice {
  struct Step {
    std::int64_t stride = 0;  // bytes, positive
    std::int64_t count = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };

  std::int64_t begin = 0;  // the lowest address
  std::int64_t end = 0;    // behind the highest
  std::int64_t run = 0;    // bytes
  std::vector<Step> steps;

  bool has_holes() const noexcept { return !steps.empty(); }
  friend bool operator==(const Lattice&, const Lattice&) = default;
};

// Nothing for a region without elements.
std::optional<Lattice> lattice_of(const Region& region);

}  // namespace distrun::device
