#pragma once
// RAII for SQLite: a connection, a statement and a transaction. Every failure is an Error that names the file and the
// remedy. Independent of the stored data. A connection and its statements are used on one thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/common/base/clock.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace distrun::history {

class Database {
 public:
  enum class Access { Read, Write };

  // Opens an existing file; `path` is always a plain file name to SQLite. All calls together wait at most `patience`,
  // from now on, for locks of other processes; be_patient() renews it. Throws Error{Failed} if the file cannot be
  // opened. Does not read the contents yet.
  Database(const std::string& path, Access access, base::Milliseconds patience);
  // Creates a database that exists as long as this object.
  static Database in_memory() { return Database(); }
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const noexcept { return path_; }
  void be_patient(base::Milliseconds patience);
  // Runs statements without results.
  void run(const char* sql);
  // Returns the first column of the first row, for statements such as `PRAGMA page_count`.
  std::int64_t number(const char* sql);
  // Moves the write-ahead log into the file if it has become long; never waits for a reader.
  void shorten_log();

  // Throws the error for `code`, which SQLite returned: Timeout for a lock, else Failed.
  [[noreturn]] void fail(int code) const;

 private:
  friend class Statement;
  Database();
  void open(const std::string& name, int flags);
  static int wait_for_lock(void* self, int calls);
  static int note_log(void* self, sqlite3*, const char*, int pages);

  std::string path_;
  sqlite3* connection_ = nullptr;
  base::Milliseconds patience_{};
  base::TimePoint deadline_;
  int log_pages_ = 0;
};

// A statement, prepared once and used many times.
class Statement {
 public:
  // `database` must outlive the statement.
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Restarts with these parameters: integers and texts, which are copied.
  template <class... Values>
  Statement& with(const Values&... values) {
    restart();
    int at = 0;
    (bind(++at, values), ...);
    return *this;
  }
  // Runs a statement without results. Returns the number of changed rows.
  template <class... Values>
  int run(const Values&... values) {
    with(values...);
    return finish();
  }
  // Returns the first column of the first row, if there is a row.
  template <class... Values>
  std::optional<std::int64_t> first(const Values&... values) {
    with(values...);
    return take_first();
  }
  // Returns true if there is a (further) row. After false, the statement must be restarted.
  bool step();

  // Return a column of the row, counted from 0. A text is valid until the next step.
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;
  bool is_null(int column) const;

 private:
  void restart();
  int finish();
  std::optional<std::int64_t> take_first();
  void bind(int at, std::int64_t value);
  void bind(int at, std::string_view value);

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// Applies all changes up to commit(), or none; a writer holds the write lock from the start. A reader sees the database
// as it is at its first query, even if others write meanwhile.
class Transaction {
 public:
  Transaction(Database& database, Database::Access access);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace distrun::history
