#include <distrun/runner/report/text/examination_text.hpp>

#include <cstddef>
#include <string>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/doctor/cause_text.hpp>

namespace distrun::report {
namespace {

using evidence::Line;
using evidence::Tone;
using runner::HangCause;
using runner::HangKind;
using runner::doctor::Examination;
using runner::doctor::HangFinding;

constexpr std::size_t kLineMax = 500;

void add(std::vector<Line>& lines, Tone tone, const std::string& text) {
  if (!text.empty()) lines.emplace_back().add(tone, base::one_line(text, kLineMax));
}

// Returns the cause in a sentence that begins with its kind, unless it only works.
std::string headline_of(const HangCause& cause) {
  return cause.kind == HangKind::Slow ? runner::sentence_text(cause) : runner::verdict_text(cause);
}

void add_first(std::vector<Line>& lines, const HangCause& cause) {
  const bool is_hang = runner::doctor::is_hang(cause);
  const bool is_slow = cause.kind == HangKind::Slow;
  add(lines, is_hang ? Tone::Warn : Tone::Strong, (is_slow ? "no hang was found: " : "") + headline_of(cause));
  add(lines, Tone::Plain, runner::chain_text(cause));
  add(lines, Tone::Strong, runner::look_text(cause));
  if (is_slow) return;
  for (const std::string& each : cause.evidence) add(lines, Tone::Plain, "  evidence: " + each);
  for (const std::string& each : cause.contradicted_by) add(lines, Tone::Dim, "  contradicted if " + each);
}

void add_others(std::vector<Line>& lines, const std::vector<HangCause>& causes) {
  for (std::size_t i = 1; i < causes.size(); ++i) {
    add(lines, Tone::Plain, "also " + headline_of(causes[i]) + "; " + runner::look_text(causes[i]));
  }
}

}  // namespace

std::vector<Line> examination_lines(const Examination& examination) {
  std::vector<Line> lines;
  const std::vector<HangCause>& causes = examination.causes;
  if (causes.empty() && examination.unseen.empty()) add(lines, Tone::Strong, "no hang was found: no thread was seen");
  if (!causes.empty()) {
    add_first(lines, causes.front());
    add_others(lines, causes);
  }
  for (const std::string& each : examination.unseen) add(lines, Tone::Warn, "cannot look at " + each);
  return lines;
}

}  // namespace distrun::report
