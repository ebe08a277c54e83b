#pragma once
// Returns exactly whether two strided blocks share a byte: two columns of a matrix don't, though their ranges overlap.
// Pure functions.
#include <distrun/runtime/device/lattice.hpp>

namespace distrun::device {

bool overlap(const Lattice& a, const Lattice& b);
// Returns whether every byte of `inner` is known to be in `outer`. May return false although it is.
bool covers(const Lattice& outer, const Lattice& inner) noexcept;

}  // namespace distrun::device
