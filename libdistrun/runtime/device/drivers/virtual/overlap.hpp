#pragma once
// Whether two strided blocks have a byte in common, exactly: two columns of a matrix have none, though each reaches
// over the other. Pure.
#include <distrun/runtime/device/lattice.hpp>

namespace distrun::device::virtual_gpu {

bool overlap(const Lattice& a, const Lattice& b);
// Whether every byte of `inner` is known to be one of `outer`. May say no where it is so.
bool covers(const Lattice& outer, const Lattice& inner) noexcept;

}  // namespace distrun::device::virtual_gpu
