#include <distrun/runner/report/text/output_text.hpp>

#include <algorithm>
#include <vector>

#include <distrun/common/base/rank_list.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/findings.hpp>

namespace distrun::report {
namespace {

using runner::AttemptRecord;
using runner::Captured;
using runner::RankRecord;
using Stream = Captured RankRecord::*;

constexpr std::size_t kExcerptLinesMax = 40;
constexpr std::size_t kExcerptRanksMax = 4;
constexpr std::size_t kAllLinesMax = 10'000;

const char* name_of(Stream stream) { return stream == &RankRecord::out ? "stdout" : "stderr"; }

void add_stream(std::string& out, const AttemptRecord& attempt, const std::vector<int>& ranks, Stream stream,
                const std::string& text, std::size_t lines_max, const Paint& paint) {
  if (text.empty()) return;
  const std::string title = std::string("  ") + name_of(stream) + " of " + hosts_of(attempt).label(ranks) + ":";
  out += "\n" + paint(Style::Dim, title) + "\n";
  const std::string prefix = paint(Style::Dim, "  " + base::rank_list(ranks) + "|");
  for (const std::string& line : excerpt_lines(text, lines_max)) {
    out += prefix + (line.empty() ? "" : " " + line) + "\n";
  }
}

bool wrote(const RankRecord& rank) { return !rank.out.text.empty() || !rank.err.text.empty(); }

bool wrote_the_same(const RankRecord& a, const RankRecord& b) {
  return a.out.text == b.out.text && a.err.text == b.err.text;
}

}  // namespace

std::string output_of_culprits(const AttemptRecord& attempt, const Paint& paint) {
  std::string out;
  std::size_t shown = 0;
  for (const RankRecord* rank : culprits_first(attempt)) {
    const bool guilty =
        std::find(attempt.culprits.begin(), attempt.culprits.end(), rank->rank) != attempt.culprits.end();
    if (!wrote(*rank) || shown == kExcerptRanksMax || (!guilty && shown > 0)) continue;
    ++shown;
    for (const Stream stream : {&RankRecord::out, &RankRecord::err}) {
      add_stream(out, attempt, {rank->rank}, stream, (rank->*stream).text, kExcerptLinesMax, paint);
    }
  }
  return out;
}

std::string output_of_all(const AttemptRecord& attempt, const Paint& paint) {
  std::string out;
  std::vector<bool> is_told(attempt.ranks.size());
  for (std::size_t first = 0; first < attempt.ranks.size(); ++first) {
    if (is_told[first]) continue;
    std::vector<int> alike;
    for (std::size_t i = first; i < attempt.ranks.size(); ++i) {
      if (is_told[i] || !wrote_the_same(attempt.ranks[first], attempt.ranks[i])) continue;
      is_told[i] = true;
      alike.push_back(attempt.ranks[i].rank);
    }
    for (const Stream stream : {&RankRecord::out, &RankRecord::err}) {
      add_stream(out, attempt, alike, stream, (attempt.ranks[first].*stream).text, kAllLinesMax, paint);
    }
  }
  return out;
}

}  // namespace distrun::report
