#pragma once
// The limit on the frames of one stack that travel.
#include <cstdint>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe {

// Puts frames into the thread, innermost first; in the middle as many are left out as are over the limits of
// common/wire/stacks.hpp. `gap`: some between inner and outer are missing already.
void set_frames(wire::ThreadStack& thread, std::vector<std::uint32_t> inner, const std::vector<std::uint32_t>& outer,
                bool gap);

}  // namespace distrun::probe
