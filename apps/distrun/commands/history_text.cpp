#include "history_text.hpp"

#include <algorithm>
#include <cstdio>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/excerpt.hpp>

namespace distrun::cli {
namespace {

using report::Style;

constexpr std::size_t kVerdictWidth = 11;   // "infra-error"
constexpr std::size_t kShareWidth = 5;      // "20/20", " 100%"
constexpr std::size_t kDurationWidth = 10;  // "2 min 05 s"
constexpr std::size_t kAgeWidth = 10;       // "59 min ago", "2026-11-20"
constexpr std::size_t kRunWidth = 12;
// If the default timeout exceeds a test's need by this factor, users wait too long for a hang.
constexpr int kFarTooLong = 10;

std::string left(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text + "  ";
}

std::string right(const std::string& text, std::size_t width) {
  return (text.size() < width ? std::string(width - text.size(), ' ') : "") + text + "  ";
}

// The colour ends before the padding.
std::string verdict_column(runner::Verdict verdict, const report::Paint& paint) {
  const std::string word = name_of(verdict);
  return paint(report::style_of(verdict), word) + left("", kVerdictWidth - std::min(kVerdictWidth, word.size()));
}

std::string ago(std::int64_t at_ms, std::int64_t now_ms) {
  const std::int64_t seconds = (now_ms - at_ms) / 1000;
  constexpr std::int64_t kHour = 3600;
  constexpr std::int64_t kDay = 24 * kHour;
  if (seconds < 0 || seconds >= 60 * kDay) return base::iso8601(at_ms * 1'000'000).substr(0, 10);
  if (seconds < 60) return std::to_string(seconds) + " s ago";
  if (seconds < kHour) return std::to_string(seconds / 60) + " min ago";
  if (seconds < 2 * kDay) return std::to_string(seconds / kHour) + " h ago";
  return std::to_string(seconds / kDay) + " days ago";
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f%%", share * 100);
  return text;
}

std::string plural(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Prints the id in full, since the next command may need it, and cuts the note to the space left after `taken` columns.
std::string last_column(const std::string& id, const std::string& note, std::size_t taken, const TableStyle& style) {
  if (style.width == 0) return id + style.paint(Style::Dim, note);
  const std::size_t used = taken + report::display_width(id);
  return id + style.paint(Style::Dim, style.width > used + 8 ? report::fit(note, style.width - used) : "");
}

std::string shown_id(const std::string& id) { return base::one_line(id, 2000); }

// Names the plugin and project of a test if there are several. Empty, or begins with two spaces.
template <class Item>
class Origin {
 public:
  explicit Origin(const std::vector<Item>& items)
      : projects_(!have_one(items, &Item::project)), plugins_(!have_one(items, &Item::plugin)) {}

  std::string of(const Item& item) const {
    return (plugins_ ? "  " + base::one_line(item.plugin) : "") +
           (projects_ && !item.project.empty() ? "  " + base::one_line(item.project, 400) : "");
  }

 private:
  static bool have_one(const std::vector<Item>& items, std::string Item::*part) {
    return std::all_of(items.begin(), items.end(), [&](const Item& item) { return item.*part == items.front().*part; });
  }
  bool projects_;
  bool plugins_;
};

std::string head(const TableStyle& style, const std::string& text) { return style.paint(Style::Dim, text) + "\n"; }

std::size_t shown_of(std::size_t all, const TableStyle& style) {
  return style.limit == 0 ? all : std::min(all, style.limit);
}

std::string left_out(std::size_t all, const TableStyle& style) {
  const std::size_t shown = shown_of(all, style);
  if (shown == all) return "";
  return head(style, "... " + std::to_string(all - shown) + " more; --limit 0 shows all");
}

std::string totals(const std::vector<history::TestLine>& lines, const TableStyle& style) {
  std::size_t failing = 0;
  std::size_t flaky = 0;
  for (const history::TestLine& line : lines) {
    failing += line.statistics.fails_now() ? 1 : 0;
    flaky += line.statistics.flakiness > 0 ? 1 : 0;
  }
  std::string text = plural(lines.size(), "test");
  if (failing > 0) text += ", " + std::to_string(failing) + (failing == 1 ? " fails" : " fail") + " now";
  if (flaky > 0) text += ", " + std::to_string(flaky) + " had varying results";
  return style.paint(Style::Bold, text) + "\n";
}

std::string table_line(const history::TestLine& line, const std::string& origin, const TableStyle& style) {
  const history::Statistics& s = line.statistics;
  const bool judged = s.window > 0;
  const std::string flaky = right(judged && s.flakiness > 0 ? percent(s.flakiness) : "-", kShareWidth);
  std::string text = verdict_column(line.verdict, style.paint);
  text += right(judged ? std::to_string(s.passed) + "/" + std::to_string(s.window) : "-", kShareWidth);
  text += s.flakiness > 0 ? style.paint(Style::Odd, flaky) : flaky;
  text += right(judged ? base::human(s.median) : "-", kDurationWidth);
  text += right(judged ? base::human(s.p95) : "-", kDurationWidth);
  text += left(ago(line.at_ms, style.now_ms), kAgeWidth);
  constexpr std::size_t kTaken = kVerdictWidth + 2 * kShareWidth + 2 * kDurationWidth + kAgeWidth + 12;
  return text + last_column(shown_id(line.id), origin, kTaken, style) + "\n";
}

std::string note_of(const history::Result& result) {
  std::string note;
  if (result.attempts > 1) note += plural(static_cast<std::size_t>(result.attempts), "attempt");
  if (result.verdict == runner::Verdict::Pass || result.message.empty()) return note;
  return note + (note.empty() ? "" : ": ") + base::one_line(result.message, history::kMessageMax + 3);
}

std::string result_line(const history::Result& result, bool with_id, const std::string& origin,
                        const TableStyle& style) {
  std::string text = verdict_column(result.verdict, style.paint);
  text += right(result.attempts > 0 ? base::human(result.duration) : "-", kDurationWidth);
  text += right(std::to_string(result.variant.world_size), kShareWidth);
  text += left(ago(result.at_ms, style.now_ms), kAgeWidth);
  text += left(base::one_line(result.run_id), kRunWidth);
  constexpr std::size_t kTaken = kVerdictWidth + kDurationWidth + kShareWidth + kAgeWidth + kRunWidth + 10;
  std::string note = note_of(result);
  if (!origin.empty()) note = origin.substr(2) + (note.empty() ? "" : "  ") + note;
  if (!note.empty() && with_id) note = "  " + note;
  text += last_column(with_id ? shown_id(result.test) : "", note, kTaken, style);
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

// Formats like the values of --timeout.
std::string option_text(base::Nanoseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
  if (seconds % 3600 == 0) return std::to_string(seconds / 3600) + "h";
  if (seconds % 60 == 0 && seconds > 60) return std::to_string(seconds / 60) + "m";
  return std::to_string(seconds) + "s";
}

std::string beside_default(base::Nanoseconds timeout) {
  const base::Nanoseconds usual = runner::Settings{}.timeout;
  if (usual < timeout) return "  the default of " + option_text(usual) + " is too short";
  if (usual < timeout * kFarTooLong) return "";
  return "  the default of " + option_text(usual) + " is " + std::to_string(usual / timeout) + " times as long";
}

}  // namespace

std::string table_text(const std::vector<history::TestLine>& lines, const TableStyle& style) {
  std::string text = head(style, left("last", kVerdictWidth) + right("pass", kShareWidth) +
                                     right("flaky", kShareWidth) + right("median", kDurationWidth) +
                                     right("95%", kDurationWidth) + left("when", kAgeWidth) + "test");
  const Origin origin(lines);
  const std::size_t shown = shown_of(lines.size(), style);
  for (std::size_t i = 0; i < shown; ++i) text += table_line(lines[i], origin.of(lines[i]), style);
  return text + left_out(lines.size(), style) + totals(lines, style);
}

std::string results_text(const std::vector<history::Result>& results, const TableStyle& style) {
  const bool one_test = std::all_of(results.begin(), results.end(),
                                    [&](const history::Result& result) { return result.test == results.front().test; });
  std::string text;
  if (one_test && !results.empty()) text = style.paint(Style::Bold, shown_id(results.front().test)) + "\n";
  text += head(style, left("verdict", kVerdictWidth) + right("duration", kDurationWidth) + right("ranks", kShareWidth) +
                          left("when", kAgeWidth) + left("run", kRunWidth) + (one_test ? "what happened" : "test"));
  const Origin origin(results);
  for (const history::Result& result : results) text += result_line(result, !one_test, origin.of(result), style);
  return text;
}

std::string timeouts_text(std::vector<history::TestLine> lines, const TableStyle& style) {
  std::erase_if(lines, [](const auto& line) { return line.statistics.timed < history::kEnoughToSuggest; });
  if (lines.empty()) return "";
  std::sort(lines.begin(), lines.end(), [](const history::TestLine& a, const history::TestLine& b) {
    return a.statistics.p99 != b.statistics.p99 ? a.statistics.p99 > b.statistics.p99 : a.id < b.id;
  });
  std::string text = head(style, right("timeout", kShareWidth + 2) + right("passed", kShareWidth + 1) +
                                     right("99%", kDurationWidth) + "test");
  constexpr std::size_t kTaken = 2 * kShareWidth + 3 + kDurationWidth + 6;
  const std::size_t shown = shown_of(lines.size(), style);
  for (std::size_t i = 0; i < shown; ++i) {
    const history::Statistics& s = lines[i].statistics;
    const base::Nanoseconds timeout = history::suggested_timeout(s.p99);
    text += right(option_text(timeout), kShareWidth + 2) + right(std::to_string(s.timed), kShareWidth + 1) +
            right(base::human(s.p99), kDurationWidth) +
            last_column(shown_id(lines[i].id), beside_default(timeout), kTaken, style) + "\n";
  }
  return text + left_out(lines.size(), style);
}

}  // namespace distrun::cli
