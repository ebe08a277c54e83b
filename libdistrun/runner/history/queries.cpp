// The queries of the history.
#include <algorithm>
#include <tuple>
#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/history/column_values.hpp>
#include <distrun/runner/history/history.hpp>

namespace distrun::history {
namespace {

struct Test {
  std::int64_t row = 0;
  std::string project;
  std::string plugin;
  std::string id;
};

std::vector<Test> tests_in(Database& database, const Selection& selection) {
  std::vector<Test> tests;
  Statement all(database, "SELECT id, project, plugin, name FROM test ORDER BY id");
  const runner::Filter& filter = selection.filter;
  const std::string project = base::valid_utf8(selection.project.value_or(""));  // as it is recorded
  while (all.step()) {
    Test test{all.integer(0), std::string(all.text(1)), std::string(all.text(2)), std::string(all.text(3))};
    if (selection.project && test.project != project) continue;
    const std::string suite = test.id.substr(0, test.id.find('.'));
    if (filter.selects({suite, test.id, test.plugin})) tests.push_back(std::move(test));
  }
  return tests;
}

int interest_of(const TestLine& line) {
  if (line.statistics.fails_now()) return 0;
  return line.statistics.flakiness > 0 ? 1 : 2;
}

bool is_more_interesting(const TestLine& left, const TestLine& right) {
  const auto key = [](const TestLine& line) {
    const int interest = interest_of(line);
    return std::tuple(interest, interest == 1 ? -line.statistics.flakiness : 0.0, std::string_view(line.id),
                      std::string_view(line.plugin), std::string_view(line.project));
  };
  return key(left) < key(right);
}

bool is_newer(const Result& left, const Result& right) {
  return std::tie(left.at_ms, left.run_id, left.position) > std::tie(right.at_ms, right.run_id, right.position);
}

void keep_newest(std::vector<Result>& results, std::size_t limit) {
  std::sort(results.begin(), results.end(), is_newer);
  if (limit > 0 && results.size() > limit) results.resize(limit);
}

Result result_of(const Statement& row, const Test& test) {
  Result result;
  result.at_ms = time_of(row.integer(0));
  result.run_id = row.text(1);
  result.position = static_cast<int>(row.integer(2));
  result.project = test.project;
  result.plugin = test.plugin;
  result.test = test.id;
  result.verdict = verdict_named(row.text(3));
  result.duration = duration_of(row.integer(4));
  result.attempts = static_cast<int>(row.integer(5));
  result.message = row.text(6);
  result.variant.world_size = static_cast<int>(row.integer(7));
  result.variant.backend = row.text(8);
  result.variant.agent = row.text(9);
  result.variant.isolation = base::parse_isolation(row.text(10));
  return result;
}

constexpr char kResultsOfTest[] = R"(
SELECT result.at_ms, run.run_id, position, verdict, result.duration_us, attempts, message,
       world_size, backend, agent, isolation
FROM result JOIN run ON run.id = result.run JOIN variant ON variant.id = result.variant
WHERE test = ? AND result.at_ms >= ? ORDER BY result.at_ms DESC, result.run DESC, position DESC LIMIT ?)";

}  // namespace

runner::Hints History::hints(const std::string& project) {
  runner::Hints hints;
  if (empty_) return hints;
  database_.be_patient(patience_);
  // Tests without a project come first, so that tests of this project replace them.
  Statement tests(database_,
                  "SELECT plugin, name, last_verdict, median_us FROM test "
                  "WHERE last_verdict IS NOT NULL AND project IN ('', ?) ORDER BY project");
  const std::string known_as = base::valid_utf8(project);  // as it is recorded
  tests.with(known_as);
  while (tests.step()) {
    hints.add(std::string(tests.text(0)), std::string(tests.text(1)),
              {verdict_named(tests.text(2)), duration_of(tests.integer(3))});
  }
  return hints;
}

std::vector<TestLine> History::tests(const Selection& selection) {
  std::vector<TestLine> lines;
  if (empty_) return lines;
  database_.be_patient(patience_);
  const Transaction snapshot(database_, Access::Read);
  Statement results(database_,
                    "SELECT at_ms, verdict, duration_us FROM result WHERE test = ? AND at_ms >= ? "
                    "ORDER BY at_ms DESC, run DESC, position DESC");
  Tally tally;
  for (Test& test : tests_in(database_, selection)) {
    results.with(test.row, selection.since_ms);
    if (!results.step()) continue;
    TestLine line;
    line.project = std::move(test.project);
    line.plugin = std::move(test.plugin);
    line.id = std::move(test.id);
    line.at_ms = time_of(results.integer(0));
    line.verdict = verdict_named(results.text(1));
    do {
      tally.add(verdict_named(results.text(1)), duration_of(results.integer(2)));
    } while (results.step());
    line.statistics = tally.take();
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end(), is_more_interesting);
  return lines;
}

std::vector<Result> History::results(const Selection& selection, std::size_t limit) {
  std::vector<Result> found;
  if (empty_) return found;
  database_.be_patient(patience_);
  const Transaction snapshot(database_, Access::Read);
  Statement results(database_, kResultsOfTest);
  const std::int64_t at_most = limit == 0 ? -1 : static_cast<std::int64_t>(limit);
  for (const Test& test : tests_in(database_, selection)) {
    results.with(test.row, selection.since_ms, at_most);
    while (results.step()) found.push_back(result_of(results, test));
    if (limit > 0 && found.size() > 2 * limit) keep_newest(found, limit);
  }
  keep_newest(found, limit);
  return found;
}

int History::runs() {
  if (empty_) return 0;
  database_.be_patient(patience_);
  return static_cast<int>(database_.number("SELECT count(*) FROM run"));
}

}  // namespace distrun::history
