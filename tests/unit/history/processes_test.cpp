// Several processes with one history, and processes that are killed while they record.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <iostream>
#include <random>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/history/history.hpp>

#include "../../support/scratch.hpp"
#include "../support/forked.hpp"
#include "samples.hpp"

using namespace distrun;
using namespace distrun::history;
using namespace distrun::history::samples;
using Catch::Contains;

namespace {

constexpr base::Milliseconds kLong{60'000};

std::vector<runner::TestRecord> some_tests(int count) {
  std::vector<runner::TestRecord> tests;
  for (int i = 0; i < count; ++i) tests.push_back(test_of("Ring.t" + std::to_string(i)));
  return tests;
}

std::string text_of(sqlite3* connection, const char* sql) {
  std::string answer;
  const auto add = [](void* into, int, char** values, char**) {
    *static_cast<std::string*>(into) += values[0] == nullptr ? "null" : values[0];
    return 0;
  };
  const int code = sqlite3_exec(connection, sql, add, &answer, nullptr);
  return code == SQLITE_OK ? answer : sqlite3_errstr(code);
}

// Returns the damage of the file; empty: none. Every run in it has `tests` results.
std::string wrong_with(const std::string& path, int tests) {
  sqlite3* connection = nullptr;
  sqlite3_open(path.c_str(), &connection);
  std::string wrong = text_of(connection, "PRAGMA integrity_check");
  if (wrong == "ok") wrong.clear();
  const std::string partial =
      "SELECT run_id FROM run WHERE (SELECT count(*) FROM result WHERE run = run.id) != " + std::to_string(tests);
  wrong += text_of(connection, partial.c_str());
  wrong += text_of(connection, "SELECT run FROM result WHERE run NOT IN (SELECT id FROM run)");
  wrong += text_of(connection, "SELECT name FROM test WHERE id NOT IN (SELECT test FROM result)");
  sqlite3_close(connection);
  return wrong;
}

// Records runs until it is killed.
[[noreturn]] void record_for_ever(const std::string& path, int tests, int round) {
  for (int i = 0;; ++i) {
    const std::string id = std::to_string(round) + "-" + std::to_string(i);
    History(path, History::Access::Write, {}, kLong).record(run_of(id, 1 + i, some_tests(tests)));
  }
}

// Records concurrently in a private history; all runs must be there afterwards.
void record_at_once(const std::string& path, int processes, int runs) {
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    children.push_back(testing::fork_child([&] {
      for (int i = 0; i < runs; ++i) {
        const std::string id = std::to_string(process) + "-" + std::to_string(i);
        if (!History(path, History::Access::Write, {}, kLong).record(run_of(id, i + 1, some_tests(5)))) return 1;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) CHECK(testing::wait_for(child) == testing::ForkedEnd{0, 0});
  CHECK(History(path, History::Access::Read).runs() == processes * runs);
  CHECK(wrong_with(path, 5) == "");
}

void kill_recorder(const std::string& path, int tests, int round, int after_ms) {
  const pid_t child = testing::fork_child([&]() -> int { record_for_ever(path, tests, round); });
  ::poll(nullptr, 0, after_ms);
  ::kill(child, SIGKILL);
  REQUIRE(testing::wait_for(child).signal == SIGKILL);
}

std::mt19937 seeded() {
  const unsigned seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  return std::mt19937(seed);
}

}  // namespace

TEST_CASE("processes that fill one history at once lose nothing") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/state/history.db";
  record_at_once(path, 4, 25);
  CHECK(History(path, History::Access::Read).results({}, 0).size() == 4 * 25 * 5);
}

TEST_CASE("processes that create a history at once create one") {
  for (int round = 0; round < 20; ++round) {
    const testing::Scratch scratch;
    INFO("round " << round);
    record_at_once(scratch.path() + "/state/history.db", 5, 1);
  }
}

TEST_CASE("a recorder that is killed leaves a valid history, with all or nothing of its last run") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  constexpr int kRounds = 30;
  constexpr int kTests = 300;
  History(path, History::Access::Write).record(run_of("first", 1, some_tests(kTests)));
  std::mt19937 random = seeded();
  for (int round = 0; round < kRounds; ++round) {
    kill_recorder(path, kTests, round, 1 + static_cast<int>(random() % 40));
    INFO("round " << round);
    REQUIRE(wrong_with(path, kTests) == "");
  }
  const int runs = History(path, History::Access::Read).runs();
  std::cout << runs << " runs are there\n";
  CHECK(History(path, History::Access::Write).record(run_of("last", 1, some_tests(kTests))));
  CHECK(History(path, History::Access::Read).runs() == runs + 1);
}

TEST_CASE("a recorder that is killed while it creates the file leaves one that the next can use") {
  constexpr int kRounds = 30;
  constexpr int kTests = 5;
  std::mt19937 random = seeded();
  for (int round = 0; round < kRounds; ++round) {
    const testing::Scratch scratch;
    const std::string path = scratch.path() + "/history.db";
    kill_recorder(path, kTests, round, static_cast<int>(random() % 20));
    INFO("round " << round);
    REQUIRE(History(path, History::Access::Write, {}, kLong).record(run_of("next", 1, some_tests(kTests))));
    REQUIRE(wrong_with(path, kTests) == "");
  }
}

TEST_CASE("a lock of another process is waited for, but not long") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  History(path, History::Access::Write).record(run_of("run0", 1, some_tests(1)));
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &other) == SQLITE_OK);
  REQUIRE(text_of(other, "BEGIN IMMEDIATE") == "");
  const auto started = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(History(path, History::Access::Write, {}, 50ms).record(run_of("run1", 2, some_tests(1))),
                    Contains("locked by another process") && Contains("50.0 ms"));
  CHECK(std::chrono::steady_clock::now() - started >= 50ms);
  CHECK(History(path, History::Access::Read).runs() == 1);  // readers need not wait
  REQUIRE(text_of(other, "COMMIT") == "");
  sqlite3_close(other);
  CHECK(History(path, History::Access::Write).record(run_of("run1", 2, some_tests(1))));
}

TEST_CASE("a long-running reader does not keep a run from being recorded") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  History(path, History::Access::Write).record(run_of("run0", 1, some_tests(1)));
  sqlite3* reader = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &reader) == SQLITE_OK);
  REQUIRE(text_of(reader, "BEGIN; SELECT count(*) FROM run") == "1");
  CHECK(History(path, History::Access::Write).record(run_of("run1", 2, some_tests(2000))));
  CHECK(text_of(reader, "SELECT count(*) FROM run") == "1");
  CHECK(text_of(reader, "COMMIT; SELECT count(*) FROM run") == "2");
  sqlite3_close(reader);
}
