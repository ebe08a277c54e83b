#include <distrun/runner/report/text/failure_place.hpp>

#include <algorithm>

#include <distrun/runner/report/text/findings.hpp>

namespace distrun::report {
namespace {

bool is_culprit(const runner::AttemptRecord& attempt, const runner::RankRecord& rank) {
  return std::find(attempt.culprits.begin(), attempt.culprits.end(), rank.rank) != attempt.culprits.end();
}

// What follows from another rank's failure tells where that was felt, not where it was.
const runner::RankError* first_with_place(const runner::RankRecord& rank) {
  const auto at = std::find_if(rank.errors.begin(), rank.errors.end(), [](const runner::RankError& error) {
    return !error.file.empty() && error.because_of < 0;
  });
  return at == rank.errors.end() ? nullptr : &*at;
}

}  // namespace

Place failure_place(const runner::TestRecord& test, const runner::AttemptRecord* attempt) {
  if (attempt != nullptr) {
    for (const runner::RankRecord* rank : culprits_first(*attempt)) {
      if (!is_culprit(*attempt, *rank)) break;
      if (const runner::RankError* error = first_with_place(*rank)) return {error->file, error->line};
    }
  }
  return {test.info.file, test.info.line};
}

}  // namespace distrun::report
