#pragma once
// Limits the number of frames of one stack.
#include <cstdint>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe {

// Sets the thread's frames, innermost first; omits frames in the middle beyond the limits of common/wire/stacks.hpp.
// `gap`: frames between inner and outer are missing already.
void set_frames(wire::ThreadStack& thread, std::vector<std::uint32_t> inner, const std::vector<std::uint32_t>& outer,
                bool gap);

}  // namespace distrun::probe
