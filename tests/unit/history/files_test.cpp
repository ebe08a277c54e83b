// Damaged or foreign files, none of which is ever changed.
#include <catch2/catch.hpp>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/history/history.hpp>
#include <distrun/runner/history/schema.hpp>

#include "../../support/scratch.hpp"
#include "../support/forked.hpp"
#include "samples.hpp"

using namespace distrun;
using namespace distrun::history;
using namespace distrun::history::samples;
using Catch::Contains;

namespace {

// Changes the file without History.
void sql(const std::string& path, const std::string& statements) {
  sqlite3* connection = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &connection) == SQLITE_OK);
  const int code = sqlite3_exec(connection, statements.c_str(), nullptr, nullptr, nullptr);
  sqlite3_close(connection);
  REQUIRE(code == SQLITE_OK);
}

void record_one(const std::string& path, const std::string& run_id = "run0", int tests = 1) {
  std::vector<runner::TestRecord> records;
  for (int i = 0; i < tests; ++i) records.push_back(test_of("Ring.t" + std::to_string(i)));
  History(path, History::Access::Write).record(run_of(run_id, 1, records));
}

// Records and reads; both must be refused for the same reason.
void expect_refusal(const std::string& path, const std::string& reason, const std::string& remedy) {
  const std::string before = testing::read_file(path);
  CHECK_THROWS_WITH(record_one(path, "another"), Contains(path) && Contains(reason) && Contains(remedy));
  CHECK_THROWS_WITH(History(path, History::Access::Read).tests({}), Contains(path) && Contains(reason));
  CHECK(testing::read_file(path) == before);
}

}  // namespace

TEST_CASE("a file that is not a database is refused and left unchanged") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/thesis.txt";
  testing::write_file(path, "It was a dark and stormy night, and no database was in sight. " + std::string(5000, '.'));
  expect_refusal(path, "not a database", "--history");
}

TEST_CASE("a database of another program is refused and left unchanged") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/bookmarks.db";
  sql(path, "CREATE TABLE bookmark (url TEXT)");
  expect_refusal(path, "another program", "DISTRUN_HISTORY");
  sql(path, "PRAGMA application_id = 17");
  expect_refusal(path, "another program", "DISTRUN_HISTORY");
}

TEST_CASE("a history of a newer distrun is refused and left unchanged") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  record_one(path);
  sql(path, "PRAGMA user_version = 3; PRAGMA wal_checkpoint(TRUNCATE)");
  expect_refusal(path, "version 3", "this distrun supports version 2");
}

namespace {

// Creates the tables of a distrun without projects, with a failed and a passed test.
void make_version_1(const std::string& path) {
  sql(path, R"(
    CREATE TABLE run (id INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, at_ms INTEGER NOT NULL,
                      duration_us INTEGER NOT NULL, host TEXT NOT NULL, exit_code INTEGER NOT NULL);
    CREATE TABLE test (id INTEGER PRIMARY KEY, plugin TEXT NOT NULL, name TEXT NOT NULL, last_verdict TEXT,
                       median_us INTEGER, UNIQUE (plugin, name));
    CREATE TABLE variant (id INTEGER PRIMARY KEY, world_size INTEGER NOT NULL, backend TEXT NOT NULL,
                          agent TEXT NOT NULL, isolation TEXT NOT NULL,
                          UNIQUE (world_size, backend, agent, isolation));
    CREATE TABLE result (test INTEGER NOT NULL, at_ms INTEGER NOT NULL, run INTEGER NOT NULL,
                         position INTEGER NOT NULL, variant INTEGER NOT NULL, verdict TEXT NOT NULL,
                         duration_us INTEGER NOT NULL, attempts INTEGER NOT NULL, message TEXT NOT NULL,
                         PRIMARY KEY (test, at_ms, run, position)) WITHOUT ROWID;
    CREATE INDEX result_of_run ON result (run);
    INSERT INTO run VALUES (1, 'old', 1000, 5000, 'here', 1);
    INSERT INTO test VALUES (1, 'ring.so', 'Ring.t0', 'fail', 7000), (2, 'ring.so', 'Ring.t1', 'pass', 8000);
    INSERT INTO variant VALUES (1, 4, 'shm', 'pipe', 'process');
    INSERT INTO result VALUES (1, 1000, 1, 0, 1, 'fail', 7000, 1, 'rank 2 failed');
    INSERT INTO result VALUES (2, 1000, 1, 1, 1, 'pass', 8000, 1, '');
    PRAGMA application_id = 0x6472756e;
    PRAGMA user_version = 1;)");
}

}  // namespace

TEST_CASE("a history without projects is assigned to the first project that has its tests") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  make_version_1(path);
  CHECK(History(path, History::Access::Read).tests({}).size() == 2);  // the first user upgrades it
  CHECK(History(path, History::Access::Read).hints("/a").of("ring.so", "Ring.t0").last == Verdict::Fail);
  History(path, History::Access::Write).record(run_of("new", 2, {test_of("Ring.t0")}), "/a");
  History(path, History::Access::Write).record(run_of("other", 3, {test_of("Ring.t0")}), "/b");
  History history(path, History::Access::Read);
  Selection of_a;
  of_a.project = "/a";
  Selection of_b;
  of_b.project = "/b";
  CHECK(history.results(of_a, 0).size() == 2);
  CHECK(history.results(of_b, 0).size() == 1);
  CHECK(history.runs() == 3);
  CHECK(history.hints("/b").of("ring.so", "Ring.t1").last == Verdict::Pass);  // still without a project
}

TEST_CASE("a history that was upgraded while others waited is complete") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  make_version_1(path);
  History first(path, History::Access::Write);
  History second(path, History::Access::Write);
  CHECK(first.record(run_of("one", 2, {test_of("Ring.t0")}), "/a"));
  CHECK(second.record(run_of("two", 3, {test_of("Ring.t0")}), "/a"));
  CHECK(first.results({}, 0).size() == 4);
}

TEST_CASE("a damaged history is refused with advice, and left unchanged") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  record_one(path, "run0", 2000);
  sql(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  std::string bytes = testing::read_file(path);
  REQUIRE(bytes.size() > 100'000);
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37);
  testing::write_file(path, bytes);
  ::unlink((path + "-wal").c_str());
  ::unlink((path + "-shm").c_str());
  expect_refusal(path, "malformed", "move it away");
}

TEST_CASE("a truncated history is refused, not emptied") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  record_one(path, "run0", 2000);
  sql(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  REQUIRE(::truncate(path.c_str(), 3 * 4096) == 0);
  ::unlink((path + "-wal").c_str());
  ::unlink((path + "-shm").c_str());
  expect_refusal(path, "malformed", "move it away");
}

TEST_CASE("an empty file becomes a history, and is an empty history to readers") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  testing::write_file(path, "");
  {
    History history(path, History::Access::Read);
    CHECK(history.tests({}).empty());
    CHECK(history.results({}, 0).empty());
    CHECK(history.hints().size() == 0);
    CHECK(history.runs() == 0);
  }
  CHECK(testing::read_file(path).empty());
  record_one(path);
  CHECK(History(path, History::Access::Read).runs() == 1);
}

// The file is removed without its companions.
TEST_CASE("a history that was removed starts empty, with any leftover log") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  record_one(path, "old");
  REQUIRE(testing::exists(path + "-wal"));
  REQUIRE(::unlink(path.c_str()) == 0);
  record_one(path, "new");
  const std::vector<Result> results = History(path, History::Access::Read).results({}, 0);
  REQUIRE(results.size() == 1);
  CHECK(results.front().run_id == "new");
}

TEST_CASE("a reader creates no file") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  CHECK_THROWS_WITH(History(path, History::Access::Read), Contains(path));
  CHECK(testing::names_in(scratch.path()).empty());
}

// Like on a network file system shared by several hosts.
TEST_CASE("a history works without a log, and can get one and lose it again") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  const auto journal_of = [&](Journal journal) {
    Database database(path, Database::Access::Write, 100ms);
    prepare(database, journal);
    Statement mode(database, "PRAGMA journal_mode");
    mode.step();
    return std::string(mode.text(0));
  };
  testing::write_file(path, "");
  CHECK(journal_of(Journal::Rollback) == "delete");
  CHECK_FALSE(testing::exists(path + "-wal"));
  CHECK(journal_of(Journal::Log) == "wal");
  record_one(path, "run0");
  CHECK(journal_of(Journal::Rollback) == "delete");
  CHECK_FALSE(testing::exists(path + "-wal"));
  CHECK(History(path, History::Access::Read).runs() == 1);
  record_one(path, "run1");
  CHECK(History(path, History::Access::Read).runs() == 2);
}

TEST_CASE("names with a meaning in SQLite are only names") {
  const testing::Scratch scratch;
  REQUIRE(::chdir(scratch.path().c_str()) == 0);
  for (const std::string name : {":memory:", "file:x.db?mode=memory", "a b%20c.db"}) {
    record_one(name);
    CHECK(testing::exists(scratch.path() + "/" + name));
    CHECK(History(name, History::Access::Read).runs() == 1);
  }
}

TEST_CASE("the file and its companions are accessible only to the owner") {
  const testing::Scratch scratch;
  ::umask(0);
  const std::string path = scratch.path() + "/history.db";
  record_one(path);
  for (const std::string& name : testing::names_in(scratch.path())) {
    struct stat found {};
    REQUIRE(::stat((scratch.path() + "/" + name).c_str(), &found) == 0);
    CHECK((found.st_mode & 0777U) == 0600U);
  }
}

// Root may write anywhere, so a child drops that right.
TEST_CASE("a directory that cannot be written is an error with its name, and reading still works") {
  const testing::Scratch scratch;
  const std::string directory = scratch.directory("read-only");
  const std::string path = directory + "/history.db";
  record_one(path);
  for (const char* end : {"", "-wal", "-shm"}) ::chmod((path + end).c_str(), 0444);
  ::chmod(directory.c_str(), 0555);
  ::chmod(scratch.path().c_str(), 0755);
  const testing::ForkedEnd end = testing::in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 1;
    try {
      record_one(path, "another");
      return 2;
    } catch (const Error& error) {
      if (std::string(error.what()).find(path) == std::string::npos) return 3;
    }
    try {
      record_one(directory + "/new.db");
      return 4;
    } catch (const Error& error) {
      if (std::string(error.what()).find("Permission denied") == std::string::npos) return 5;
    }
    return History(path, History::Access::Read).runs() == 1 ? 0 : 6;
  });
  CHECK(end == testing::ForkedEnd{0, 0});
  ::chmod(directory.c_str(), 0755);
}

TEST_CASE("impossible values in the database do no harm") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  record_one(path);
  sql(path, "UPDATE result SET verdict = 'splendid', duration_us = 9223372036854775807, attempts = -7");
  sql(path, "UPDATE result SET at_ms = 9223372036854775807; UPDATE test SET median_us = -1, last_verdict = 'x'");
  record_one(path, "run1");
  History history(path, History::Access::Read);
  const Result strange = history.results({}, 1).at(0);
  CHECK(strange.verdict == Verdict::InfraError);
  CHECK(strange.duration > 24h);
  CHECK(history.tests({}).at(0).statistics.results == 2);
  CHECK(history.hints().of("ring.so", "Ring.t0").last == Verdict::Pass);
}
