#pragma once
// Adds colour to text, or not, as the creator of the Paint decides.
#include <cstdint>
#include <string>
#include <string_view>

#include <distrun/runner/record/outcome.hpp>

namespace distrun::report {

enum class Style : std::uint8_t { Plain, Bold, Dim, Good, Bad, Odd };

class Paint {
 public:
  explicit Paint(bool on) noexcept : on_(on) {}
  // `text` must already be printable.
  std::string operator()(Style style, std::string_view text) const;

 private:
  bool on_;
};

// Returns green for passed, red for failed, yellow for other verdicts that need attention.
Style style_of(runner::Verdict verdict) noexcept;

}  // namespace distrun::report
