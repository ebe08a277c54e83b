#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {
namespace {

// Uses only the sixteen colours that every terminal's theme defines.
const char* code_of(Style style) {
  switch (style) {
    case Style::Plain: return "";
    case Style::Bold: return "\x1b[1m";
    case Style::Dim: return "\x1b[2m";
    case Style::Good: return "\x1b[32m";
    case Style::Bad: return "\x1b[1;31m";
    case Style::Odd: return "\x1b[33m";
  }
  return "";
}

}  // namespace

std::string Paint::operator()(Style style, std::string_view text) const {
  if (!on_ || style == Style::Plain || text.empty()) return std::string(text);
  return code_of(style) + std::string(text) + "\x1b[0m";
}

Style style_of(runner::Verdict verdict) noexcept {
  switch (verdict) {
    case runner::Verdict::Pass: return Style::Good;
    case runner::Verdict::Skip: return Style::Dim;
    case runner::Verdict::Flaky:
    case runner::Verdict::Cancelled: return Style::Odd;
    default: return Style::Bad;
  }
}

}  // namespace distrun::report
