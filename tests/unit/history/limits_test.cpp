#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <distrun/runner/history/history.hpp>

#include "../../support/scratch.hpp"
#include "samples.hpp"

using namespace distrun;
using namespace distrun::history;
using namespace distrun::history::samples;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::int64_t size_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : 0;
}

runner::RunRecord wide_run(int day, int tests, const std::string& suite = "Wide") {
  std::vector<runner::TestRecord> records;
  for (int i = 0; i < tests; ++i) {
    records.push_back(test_of(suite + ".t" + std::to_string(i), Verdict::Fail, 1ms, std::string(250, 'x')));
  }
  return run_of(suite + std::to_string(day), day, std::move(records));
}

std::string name_of_day(int day) { return "day" + std::to_string(day); }

}  // namespace

TEST_CASE("the newest results of each test stay") {
  Limits limits;
  limits.results_per_test = 3;
  History history = History::in_memory(limits);
  for (const int day : {1, 2, 5, 4, 3}) history.record(run_of(name_of_day(day), day, {test_of("Ring.a")}));
  history.record(run_of("other", 1, {test_of("Ring.b")}));
  const std::vector<Result> results = history.results({}, 0);
  REQUIRE(results.size() == 4);
  CHECK(results[0].run_id == "day5");
  CHECK(results[1].run_id == "day4");
  CHECK(results[2].run_id == "day3");
  CHECK(results[3].test == "Ring.b");
}

TEST_CASE("the newest runs stay, and tests of removed runs only are removed") {
  Limits limits;
  limits.runs = 3;
  History history = History::in_memory(limits);
  history.record(run_of("day1", 1, {test_of("Ring.a"), test_of("Ring.gone")}));
  for (int day = 2; day <= 4; ++day) history.record(run_of(name_of_day(day), day, {test_of("Ring.a")}));
  CHECK(history.runs() == 3);
  CHECK(history.results({}, 0).size() == 3);
  REQUIRE(history.tests({}).size() == 1);
  CHECK(history.hints().size() == 1);
  // Older than all others: it is removed at once.
  CHECK(history.record(run_of("day0", 1, {test_of("Ring.older")})));
  CHECK(history.runs() == 3);
  CHECK(history.tests({}).size() == 1);
}

TEST_CASE("the file stays below its limit, and contains the newest run") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  Limits limits;
  limits.bytes = kMiB;
  for (int day = 1; day <= 12; ++day) {
    History history(path, History::Access::Write, limits);
    history.record(wide_run(day, 500));
    CHECK(history.results({}, 1).at(0).run_id == "Wide" + std::to_string(day));
    CHECK(history.runs() < 10);
  }
  CHECK(size_of(path) <= limits.bytes);
  CHECK(size_of(path) > limits.bytes / 4);
  CHECK(size_of(path + "-wal") <= limits.bytes);
}

TEST_CASE("a run that is larger than the limit is not kept, and neither are older runs") {
  Limits limits;
  limits.bytes = kMiB / 4;
  History history = History::in_memory(limits);
  history.record(run_of("day1", 1, {test_of("Ring.a")}));
  CHECK(history.record(wide_run(2, 2000)));
  CHECK(history.runs() == 0);
  CHECK(history.record(run_of("day3", 3, {test_of("Ring.a")})));
  CHECK(history.runs() == 1);
}

TEST_CASE("freed space is reused, and returned if there is much") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  Limits roomy;
  roomy.bytes = 16 * kMiB;
  {
    History history(path, History::Access::Write, roomy);
    for (int day = 1; day <= 8; ++day) history.record(wide_run(day, 1000));
  }
  const std::int64_t full = size_of(path);
  CHECK(full > 2 * kMiB);
  Limits tight;
  tight.bytes = kMiB;
  for (int day = 9; day <= 12; ++day) {
    History(path, History::Access::Write, tight).record(run_of(name_of_day(day), day, {test_of("Ring.a")}));
  }
  History(path, History::Access::Write, tight).record(wide_run(13, 600));  // enough to move the log into the file
  CHECK(size_of(path) <= tight.bytes);
}
