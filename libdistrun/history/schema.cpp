#include <distrun/history/schema.hpp>

#include <distrun/base/error.hpp>

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
CREATE TABLE test (
  id INTEGER PRIMARY KEY,
  plugin TEXT NOT NULL,          -- the name of its file, without directories
  name TEXT NOT NULL,            -- Suite.name/key=value,...
  last_verdict TEXT,
  median_us INTEGER,
  UNIQUE (plugin, name)
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

void make_tables(Database& database) {
  database.run(kTables);
  database.run(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
  database.run(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str());
}

[[noreturn]] void refuse(const Database& database, const std::string& what) {
  throw Error(ErrorKind::Failed, database.path() + " " + what);
}

// As check(), within a transaction: somebody may make the tables between two looks.
bool has_tables(Database& database) {
  const std::int64_t application = database.number("PRAGMA application_id");
  const bool is_empty = database.number("SELECT count(*) FROM sqlite_master") == 0;
  if (application == 0 && is_empty) return false;
  if (application != kApplicationId) {
    refuse(database, "is a database of another program; name another file with --history or DISTRUN_HISTORY");
  }
  const std::int64_t version = database.number("PRAGMA user_version");
  if (version == kSchemaVersion) return true;
  refuse(database, "was written by another distrun: its schema has version " + std::to_string(version) +
                       ", this one knows " + std::to_string(kSchemaVersion) +
                       "; use that one, or name another file with --history or DISTRUN_HISTORY");
}

}  // namespace

bool check(Database& database) {
  const Transaction snapshot(database, Database::Access::Read);
  return has_tables(database);
}

void prepare(Database& database, Journal journal) {
  if (!check(database)) {
    database.run("PRAGMA auto_vacuum = INCREMENTAL");  // has to come before the first table
    Transaction transaction(database, Database::Access::Write);
    if (!has_tables(database)) make_tables(database);  // somebody else may have been faster
    transaction.commit();
  }
  // A power failure costs the newest runs, not the file. While somebody else uses the file its journal cannot be
  // changed; then this run goes by the one that it has.
  try {
    database.run(journal == Journal::Log ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Timeout) throw;
  }
  database.run("PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY");
}

}  // namespace distrun::history
