#include <distrun/runner/report/text/measured.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/excerpt.hpp>

namespace distrun::report {
namespace {

constexpr std::size_t kIndent = 26;  // the column of a test's id
constexpr std::size_t kNameMax = 200;
constexpr std::size_t kUnitMax = 40;
constexpr std::size_t kLinesMost = 40;  // for a test

// Four digits are more than most measurements repeat.
std::string text_of(double value, const std::string& unit) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", value);
  return digits + (unit.empty() ? "" : " " + base::one_line(unit, kUnitMax));
}

double median(const std::vector<double>& ascending) {
  const std::size_t half = ascending.size() / 2;
  return ascending.size() % 2 == 1 ? ascending[half] : (ascending[half - 1] / 2 + ascending[half] / 2);
}

}  // namespace

std::vector<Measured> measured(const runner::TestRecord& test) {
  std::vector<Measured> all;
  if (test.attempts.empty()) return all;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> index;  // of name and unit
  for (const runner::RankRecord& rank : test.attempts.back().ranks) {
    for (const wire::Measure& each : rank.measures) {
      const auto [at, is_new] = index.try_emplace({each.name, each.unit}, all.size());
      if (is_new) all.push_back({each.name, each.unit, {}, {}, {}});
      Measured& into = all[at->second];
      into.values.push_back(each.value);
      if (into.ranks.empty() || into.ranks.back() != rank.rank) into.ranks.push_back(rank.rank);
    }
  }
  for (Measured& each : all) each.hosts = hosts_of(test.attempts.back());
  for (Measured& each : all) std::sort(each.values.begin(), each.values.end());
  return all;
}

std::string measured_text(const Measured& measured) {
  const std::vector<double>& values = measured.values;
  if (values.size() < 2) return values.empty() ? "" : text_of(values.front(), measured.unit);
  return "median " + text_of(median(values), measured.unit) + ", " + text_of(values.front(), "") + " to " +
         text_of(values.back(), measured.unit) + " (" + std::to_string(values.size()) + " values of " +
         measured.hosts.label(measured.ranks) + ")";
}

std::string measured_lines(const runner::TestRecord& test, const Paint& paint, int width) {
  const std::vector<Measured> all = measured(test);
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), kLinesMost); ++i) {
    std::string line = base::one_line(all[i].name, kNameMax) + ": " + measured_text(all[i]);
    if (width > 0) line = fit(line, static_cast<std::size_t>(std::max(width, 60)) - kIndent);
    out += std::string(kIndent, ' ') + paint(Style::Dim, line) + "\n";
  }
  if (all.size() > kLinesMost) {
    out += std::string(kIndent, ' ') + "... and " + std::to_string(all.size() - kLinesMost) + " more, see --json\n";
  }
  return out;
}

}  // namespace distrun::report
