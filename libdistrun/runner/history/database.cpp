#include <distrun/runner/history/database.hpp>

#include <poll.h>
#include <sqlite3.h>

#include <algorithm>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::history {
namespace {

constexpr int kLockPauseMs = 1;
// Pages that the log may hold before it is moved into the file. The log is kept short, since every process that opens
// the file reads it; but moving it waits for the disk, so it is not done every time.
constexpr int kLogPagesMax = 200;

const char* remedy_of(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB: return "; name another file with --history or DISTRUN_HISTORY";
    case SQLITE_CORRUPT:
      return "; move it away, and the next run creates a new one (`sqlite3 FILE .recover` saves readable data)";
    case SQLITE_FULL: return "; free some space, or turn the history off with DISTRUN_HISTORY=off";
    default: return "";
  }
}

}  // namespace

Database::Database(const std::string& path, Access access, base::Milliseconds patience) : path_(path) {
  be_patient(patience);
  // SQLite may give a name that begins with a letter or a colon a special meaning.
  const std::string name = path.starts_with('/') ? path : "./" + path;
  open(name, (access == Access::Read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX);
}

Database::Database() : path_("the history in memory") {
  open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
}

Database::~Database() { sqlite3_close(connection_); }

void Database::open(const std::string& name, int flags) {
  const int code = sqlite3_open_v2(name.c_str(), &connection_, flags, nullptr);
  if (code != SQLITE_OK) {
    try {
      fail(code);
    } catch (...) {
      sqlite3_close(connection_);
      throw;
    }
  }
  sqlite3_extended_result_codes(connection_, 1);
  sqlite3_busy_handler(connection_, &Database::wait_for_lock, this);
  sqlite3_wal_hook(connection_, &Database::note_log, this);
  // Closing the last connection would wait for the disk; shorten_log() does that occasionally.
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

void Database::be_patient(base::Milliseconds patience) {
  patience_ = patience;
  deadline_ = base::deadline_after(base::nanoseconds_of(patience));
}

int Database::wait_for_lock(void* self, int) {
  const auto left =
      std::chrono::ceil<base::Milliseconds>(static_cast<Database*>(self)->deadline_ - base::system_clock().now());
  if (left.count() <= 0) return 0;
  ::poll(nullptr, 0, kLockPauseMs);
  return 1;
}

int Database::note_log(void* self, sqlite3*, const char*, int pages) {
  static_cast<Database*>(self)->log_pages_ = pages;
  return SQLITE_OK;
}

void Database::run(const char* sql) {
  const int code = sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Database::shorten_log() {
  if (log_pages_ <= kLogPagesMax) return;
  be_patient(base::Milliseconds(0));
  const int code = sqlite3_wal_checkpoint_v2(connection_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code == SQLITE_OK) log_pages_ = 0;
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED) fail(code);
}

void Database::fail(int code) const {
  const int kind = code & 0xff;
  if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED) {
    throw Error(ErrorKind::Timeout, path_ + ": locked by another process for longer than " + base::human(patience_));
  }
  std::string text = path_ + ": " + sqlite3_errstr(kind);
  const int number = connection_ == nullptr ? 0 : sqlite3_system_errno(connection_);
  const bool of_the_system = kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR || kind == SQLITE_PERM;
  if (of_the_system && number != 0) text += ": " + base::errno_text(number);
  throw Error(ErrorKind::Failed, text + remedy_of(code));
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  const int code =
      sqlite3_prepare_v2(database.connection_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::restart() { sqlite3_reset(statement_); }

int Statement::finish() {
  while (step()) {
  }
  return sqlite3_changes(database_.connection_);
}

std::optional<std::int64_t> Statement::take_first() {
  if (!step()) return std::nullopt;
  const std::int64_t value = integer(0);
  restart();
  return value;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_);
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

void Statement::bind(int at, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, at, value);
  if (code != SQLITE_OK) database_.fail(code);
}

void Statement::bind(int at, std::string_view value) {
  const int code = sqlite3_bind_text64(statement_, at, value.data() == nullptr ? "" : value.data(), value.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) database_.fail(code);
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {bytes == nullptr ? "" : bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

Transaction::Transaction(Database& database, Database::Access access) : database_(database) {
  database.run(access == Database::Access::Write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const Error&) {
    // SQLite has already rolled back, for example after a disk error.
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace distrun::history
