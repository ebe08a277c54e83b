#pragma once
// Whether two strided blocks have a byte in common, exactly: two columns of a matrix have none, though each reaches
// over the other. Pure.
#include <cstdint>
#include <optional>
#include <vector>

#include <distrun/device/region.hpp>

namespace distrun::device::virtual_gpu {

// A region as runs of bytes at regular distances: what is contiguous is one run, dimensions are by falling stride, and
// each leads to a place of its own.
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

  friend bool operator==(const Lattice&, const Lattice&) = default;
};

// Nothing for a region without elements.
std::optional<Lattice> lattice_of(const Region& region);
bool overlap(const Lattice& a, const Lattice& b);
// Whether every byte of `inner` is known to be one of `outer`. May say no where it is so.
bool covers(const Lattice& outer, const Lattice& inner) noexcept;

}  // namespace distrun::device::virtual_gpu
