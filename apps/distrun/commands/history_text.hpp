#pragma once
// The text output of `distrun history`. `now_ms` is since 1970; `width` is the terminal's, 0 without one.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/runner/history/history.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::cli {

struct TableStyle {
  report::Paint paint;
  std::int64_t now_ms = 0;
  std::size_t width = 0;
  std::size_t limit = 0;  // lines; 0: all
};

std::string table_text(const std::vector<history::TestLine>& lines, const TableStyle& style);
std::string results_text(const std::vector<history::Result>& results, const TableStyle& style);
// Suggests timeouts for tests that have passed often enough, the longest first; may be empty.
std::string timeouts_text(std::vector<history::TestLine> lines, const TableStyle& style);

}  // namespace distrun::cli
