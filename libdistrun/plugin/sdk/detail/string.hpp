#pragma once
// Strings across the C interface: borrowed for the time of a call.
#include <string>
#include <string_view>

#include <distrun/plugin/sdk/plugin.h>

namespace distrun::detail {

inline distrun_string lend(std::string_view text) noexcept { return {text.data(), text.size()}; }

inline std::string_view view(distrun_string text) noexcept {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}

inline std::string copy(distrun_string text) { return std::string(view(text)); }

}  // namespace distrun::detail
