#pragma once
// How thoroughly process groups check their calls. One level per process; thread-safe.
//
//   off     ranks must agree in the call, the dtype and the number of elements, which costs nothing
//   info    the same as off
//   detail  and in the sizes of their tensors
#include <cstdint>

namespace distrun::collectives {

// What the ranks of a group compare at each call: see the top of this header.
enum class DebugLevel : std::uint8_t { Off, Info, Detail };

// Returns the level; initially that of $TORCH_DISTRIBUTED_DEBUG: OFF (the default), INFO or DETAIL, in upper or lower
// case.
DebugLevel debug_level();
// Sets the level for all groups of the process, from their next call.
void set_debug_level(DebugLevel level) noexcept;
// Reads the variable again. Throws Error{InvalidArgument} for another value.
void set_debug_level_from_environment();
const char* name_of(DebugLevel level) noexcept;  // "detail"

// Returns the stored level, for code that restores it later; -1: the environment has not been read yet.
int debug_level_number() noexcept;
// Sets what debug_level_number() returned.
void restore_debug_level(int number) noexcept;

}  // namespace distrun::collectives

namespace distrun {
using collectives::DebugLevel;
}  // namespace distrun
