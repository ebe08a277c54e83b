#pragma once
// Colour, or none: whoever makes a Paint has decided.
#include <cstdint>
#include <string>
#include <string_view>

#include <distrun/runner/record/outcome.hpp>

namespace distrun::report {

enum class Style : std::uint8_t { Plain, Bold, Dim, Good, Bad, Odd };

class Paint {
 public:
  explicit Paint(bool on) noexcept : on_(on) {}
  // `text` must be printable already.
  std::string operator()(Style style, std::string_view text) const;

 private:
  bool on_;
};

// Green for what passed, red for what failed, yellow for what somebody should know about.
Style style_of(runner::Verdict verdict) noexcept;

}  // namespace distrun::report
