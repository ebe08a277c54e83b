#pragma once
// How much process groups look at what they do. Of the process; any thread.
//
//   off     ranks must agree in what they call, in dtype and number of elements: that costs nothing
//   info    the same
//   detail  and in the sizes of their tensors
#include <cstdint>

namespace distrun::collectives {

enum class DebugLevel : std::uint8_t { Off, Info, Detail };

// At first, what $TORCH_DISTRIBUTED_DEBUG says: OFF (also if it is not set), INFO or DETAIL, in any case of letters.
DebugLevel debug_level();
void set_debug_level(DebugLevel level) noexcept;
// Reads it again. Throws Error{InvalidArgument} for another value.
void set_debug_level_from_environment();
const char* name_of(DebugLevel level) noexcept;  // "detail"

// The level as it is kept, for code that puts it back later; -1: the environment has not been read yet.
int debug_level_number() noexcept;
void restore_debug_level(int number) noexcept;

}  // namespace distrun::collectives

namespace distrun {
using collectives::DebugLevel;
}  // namespace distrun
