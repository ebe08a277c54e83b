#include <distrun/runner/history/schema.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::history {
namespace {

constexpr std::int64_t kApplicationId = 0x6472756e;  // "drun"

constexpr char kTables[] = R"(
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  at_ms INTEGER NOT NULL,        -- when it began, since 1970
  duration_us INTEGER NOT NULL,
  host TEXT NOT NULL,
  exit_code INTEGER NOT NULL
);
CREATE TABLE variant (
  id INTEGER PRIMARY KEY,
  world_size INTEGER NOT NULL,
  backend TEXT NOT NULL,
  agent TEXT NOT NULL,
  isolation TEXT NOT NULL,
  UNIQUE (world_size, backend, agent, isolation)
);
CREATE TABLE result (
  test INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,        -- of its run
  run INTEGER NOT NULL,
  position INTEGER NOT NULL,     -- within its run
  variant INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  duration_us INTEGER NOT NULL,  -- of one attempt: the longest good one, else the longest
  attempts INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (test, at_ms, run, position)
) WITHOUT ROWID;
CREATE INDEX result_of_run ON result (run);
)";

constexpr char kTests[] = R"(
CREATE TABLE test (
  id INTEGER PRIMARY KEY,
  project TEXT NOT NULL,         -- empty: of a time before there were projects
  plugin TEXT NOT NULL,          -- the name of its file, without directories
  name TEXT NOT NULL,            -- Suite.name/key=value,...
  last_verdict TEXT,
  median_us INTEGER,
  UNIQUE (project, plugin, name)
);
)";

// Version 1 had no projects.
constexpr char kPutAside[] = "ALTER TABLE test RENAME TO test_1";
constexpr char kTakeOver[] = R"(
INSERT INTO test SELECT id, '', plugin, name, last_verdict, median_us FROM test_1;
DROP TABLE test_1;
)";

void sign(Database& database) {
  database.run(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
  database.run(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str());
}

void make_tables(Database& database) {
  database.run(kTables);
  database.run(kTests);
  sign(database);
}

void bring_up_to_date(Database& database) {
  database.run(kPutAside);
  database.run(kTests);
  database.run(kTakeOver);
  sign(database);
}

[[noreturn]] void refuse(const Database& database, const std::string& what) {
  throw Error(ErrorKind::Failed, database.path() + " " + what);
}

// Used by check() and within a write transaction: another process may create the tables between the two.
State state_of(Database& database) {
  const std::int64_t application = database.number("PRAGMA application_id");
  const bool is_empty = database.number("SELECT count(*) FROM sqlite_master") == 0;
  if (application == 0 && is_empty) return State::Empty;
  if (application != kApplicationId) {
    refuse(database, "is another program's database; name another file with --history or DISTRUN_HISTORY");
  }
  const std::int64_t version = database.number("PRAGMA user_version");
  if (version == kSchemaVersion) return State::Current;
  if (version == 1) return State::Old;
  refuse(database, "was written by another version of distrun: its schema is version " + std::to_string(version) +
                       ", but this distrun supports version " + std::to_string(kSchemaVersion) +
                       "; use that version, or name another file with --history or DISTRUN_HISTORY");
}

}  // namespace

State check(Database& database) {
  const Transaction snapshot(database, Database::Access::Read);
  return state_of(database);
}

void prepare(Database& database, Journal journal) {
  const State found = check(database);
  if (found == State::Empty) database.run("PRAGMA auto_vacuum = INCREMENTAL");  // must precede the first table
  if (found != State::Current) {
    Transaction transaction(database, Database::Access::Write);
    const State now = state_of(database);  // another process may have been faster
    if (now == State::Empty) make_tables(database);
    if (now == State::Old) bring_up_to_date(database);
    transaction.commit();
  }
  // A power failure may lose the newest runs, but not the file. While another process uses the file, its journal mode
  // cannot be changed; then this run uses the existing mode.
  try {
    database.run(journal == Journal::Log ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Timeout) throw;
  }
  database.run("PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY");
}

}  // namespace distrun::history
