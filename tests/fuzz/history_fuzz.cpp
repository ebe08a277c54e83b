// A summary imported into a history: refused, which leaves the history unchanged; or recorded as a whole, once, and all
// queries about it have consistent answers.
#include <distrun/common/base/error.hpp>
#include <distrun/runner/history/import.hpp>

#include "fuzz.hpp"

using namespace distrun;
using fuzz::require;

namespace {

history::Limits small() {
  history::Limits limits;
  limits.results_per_test = 3;
  limits.runs = 3;
  limits.bytes = std::int64_t{1} << 20;
  return limits;
}

// Stands still, later than the times in the corpus.
class StillClock final : public base::Clock {
 public:
  base::TimePoint now() const override { return {}; }
  std::int64_t wall_ns() const override { return 2'000'000'000'000'000'000; }
};

history::Imported import_into(history::History& history, std::string_view json) {
  return history::import_summary(history, json, StillClock());
}

void check_statistics(const history::TestLine& line) {
  const history::Statistics& statistics = line.statistics;
  require(line.id.find('.') != 0, "a test has a suite");
  require(statistics.results > 0 && statistics.results <= small().results_per_test, "a test has results, few");
  require(statistics.flakiness >= 0 && statistics.flakiness <= 1, "a flakiness is a share");
  require(statistics.passed <= statistics.window && statistics.timed <= statistics.results, "shares are of a whole");
  require(statistics.median <= statistics.p95 && statistics.p95 <= statistics.p99, "percentiles are in order");
  require(history::suggested_timeout(statistics.p99) >= std::chrono::seconds(10), "a timeout is not too short");
}

void check_answers(history::History& history, const history::Imported& imported) {
  int results = 0;
  for (const history::TestLine& line : history.tests({})) {
    check_statistics(line);
    results += line.statistics.results;
  }
  require(results <= imported.tests, "no more was recorded than ran");
  const std::vector<history::Result> all = history.results({}, 0);
  require(static_cast<int>(all.size()) == results, "the table and the results are of the same");
  for (const history::Result& result : all) require(result.run_id == imported.run_id, "every result has its run");
  require(history.results({}, 1).size() <= 1, "a limit is one");
  require(history.hints().size() <= all.size(), "a hint comes from a result");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  history::History history = history::History::in_memory(small());
  history::Imported imported;
  try {
    imported = import_into(history, fuzz::text_of(data, size));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::InvalidArgument, "a refusal is an invalid argument");
    require(history.runs() == 0 && history.tests({}).empty(), "what was refused left nothing");
    return 0;
  }
  require(imported.is_new && history.runs() == 1, "a summary is one run");
  check_answers(history, imported);
  require(!import_into(history, fuzz::text_of(data, size)).is_new, "a run is recorded once");
  check_answers(history, imported);
  return 0;
}
