#include <distrun/runner/attempt/sanitizer_report.hpp>

#include <array>
#include <charconv>

#include <distrun/common/base/text.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kLineMax = 4096;  // only this much of a line is read
constexpr std::size_t kLinesMax = 400;  // per report
constexpr std::size_t kSummaryMax = 300;

constexpr std::string_view kUndefined = "UndefinedBehaviorSanitizer";
constexpr std::array<std::string_view, 6> kSanitizers{"AddressSanitizer", "ThreadSanitizer", "MemorySanitizer",
                                                      "LeakSanitizer",    kUndefined,        "HWAddressSanitizer"};

// Iterates over the lines of a text.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end).substr(0, kLineMax);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
};

struct SourcePlace {
  std::string_view file;
  std::uint32_t line = 0;
};

// Parses "FILE:LINE" or "FILE:LINE:COLUMN" at the end of `text`. Returns nothing for a file without a line
// ("/lib/x.so+0x12").
std::optional<SourcePlace> place_at_end(std::string_view text) {
  std::optional<SourcePlace> place;
  for (int i = 0; i < 2; ++i) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) break;
    SourcePlace found{text.substr(0, colon), 0};
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, found.line);
    if (parsed.ec != std::errc() || parsed.ptr != end || found.line == 0) break;
    place = found;
    text = found.file;
  }
  return place;
}

// Returns whether the file is a source of a sanitizer, libc or the standard library, which is never the culprit.
bool is_theirs(std::string_view file) {
  for (const std::string_view part : {"libsanitizer/", "compiler-rt/", "sanitizer_common", "sysdeps/", "/usr/include/",
                                      "/usr/lib/", "csu/", "/nptl/", "/stdlib/", "include/c++/"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// Parses the place of a frame: "    #1 0x55.. in f(int) /src/x.cpp:12:3", or as ThreadSanitizer writes it,
// "    #1 f(int) /src/x.cpp:12:3 (x+0x..) (BuildId: ..)".
std::optional<SourcePlace> place_of_frame(std::string_view line) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start == std::string_view::npos || line[start] != '#') return std::nullopt;
  for (int i = 0; i < 2 && line.ends_with(')'); ++i) line = line.substr(0, line.rfind(" ("));
  const std::size_t space = line.rfind(' ');
  auto place = place_at_end(line.substr(space + 1));
  return place && !is_theirs(place->file) ? place : std::nullopt;
}

// Returns the kind of error without addresses and pids, which differ in each run and would hide the rest of the line:
// "heap-buffer-overflow" of "heap-buffer-overflow on address 0x602000000014 at pc 0x55.. bp 0x7f.. sp 0x7f..".
std::string_view without_addresses(std::string_view summary) {
  for (const std::string_view mark : {" on address 0x", " on 0x", " (pc ", " (pid="}) {
    summary = summary.substr(0, summary.find(mark));
  }
  return summary;
}

// Parses a line with "ERROR: AddressSanitizer: ..." or "WARNING: ThreadSanitizer: ...".
std::optional<SanitizerReport> header_of(std::string_view line) {
  for (const std::string_view kind : {std::string_view("ERROR: "), std::string_view("WARNING: ")}) {
    const std::size_t at = line.find(kind);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + kind.size());
    for (const std::string_view sanitizer : kSanitizers) {
      if (!rest.starts_with(sanitizer) || !rest.substr(sanitizer.size()).starts_with(": ")) continue;
      SanitizerReport report;
      report.sanitizer = sanitizer;
      report.summary = base::one_line(without_addresses(rest.substr(sanitizer.size() + 2)), kSummaryMax);
      return report;
    }
  }
  return std::nullopt;
}

// Parses "x.cpp:3:5: runtime error: signed integer overflow: ..."
std::optional<SanitizerReport> runtime_error_of(std::string_view line) {
  constexpr std::string_view kMark = ": runtime error: ";
  const std::size_t at = line.find(kMark);
  const auto place = at == std::string_view::npos ? std::nullopt : place_at_end(line.substr(0, at));
  if (!place) return std::nullopt;
  SanitizerReport report;
  report.sanitizer = kUndefined;
  report.summary = base::one_line(line.substr(at + kMark.size()), kSummaryMax);
  report.file = base::printable(place->file);
  report.line = place->line;
  return report;
}

// Parses "READ of size 4 at 0x... thread T0" (AddressSanitizer and ThreadSanitizer), or "Direct leak of 8 byte(s) in 1
// object(s) allocated from:" (LeakSanitizer).
std::string_view access_of(std::string_view line) {
  const std::size_t start = line.find_first_not_of(' ');
  const std::string_view text = start == std::string_view::npos ? line : line.substr(start);
  const bool is_access = text.starts_with("READ of size ") || text.starts_with("WRITE of size ") ||
                         text.starts_with("Read of size ") || text.starts_with("Write of size ");
  if (text.starts_with("Direct leak of ") || text.starts_with("Indirect leak of ")) {
    return text.substr(0, text.find(" allocated from"));
  }
  return is_access ? text.substr(0, text.find(" at ")) : std::string_view{};
}

void add_details(SanitizerReport& report, Lines lines) {
  std::string_view line;
  bool has_access = false;
  for (std::size_t i = 0; i < kLinesMax && lines.next(line); ++i) {
    if (header_of(line) || line.starts_with("SUMMARY: ")) return;
    const std::string_view access = access_of(line);
    if (!access.empty() && !has_access) {
      has_access = true;
      report.summary += ", " + base::one_line(access, kSummaryMax);
    }
    const auto place = report.line == 0 ? place_of_frame(line) : std::nullopt;
    if (!place) continue;
    report.file = base::printable(place->file);
    report.line = place->line;
  }
}

}  // namespace

std::optional<SanitizerReport> find_sanitizer_report(std::string_view output) {
  Lines lines(output);
  std::string_view line;
  while (lines.next(line)) {
    auto report = header_of(line);
    if (!report) report = runtime_error_of(line);
    if (!report) continue;
    add_details(*report, lines);
    return report;
  }
  return std::nullopt;
}

}  // namespace distrun::runner
