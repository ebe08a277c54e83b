#pragma once
// SQLite with owners: a connection, a statement and a transaction, and every failure as an Error that names the file
// and the way out. Nothing here knows what is stored. A connection and its statements live on one thread.
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

  // An existing file; `path` is taken as it is, whatever SQLite would read into it. Locks of other processes are waited
  // for until `patience` is over, from now on and over all calls together; renew it with be_patient().
  // Throws Error{Failed} if it cannot be opened. What is in it is not looked at yet.
  Database(const std::string& path, Access access, base::Milliseconds patience);
  // Of this object alone, gone with it.
  static Database in_memory() { return Database(); }
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const noexcept { return path_; }
  void be_patient(base::Milliseconds patience);
  // Statements without results.
  void run(const char* sql);
  // The first column of the first row, as `PRAGMA page_count` has one.
  std::int64_t number(const char* sql);
  // Moves what the write-ahead log holds into the file, if it has become long; never waits for a reader.
  void shorten_log();

  // Throws what `code`, which SQLite returned, means to the user: Timeout for a lock, else Failed.
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

// A statement, prepared once and used often.
class Statement {
 public:
  // `database` must outlive it.
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Begins anew with these parameters: integers and texts, which are copied.
  template <class... Values>
  Statement& with(const Values&... values) {
    restart();
    int at = 0;
    (bind(++at, values), ...);
    return *this;
  }
  // For a statement without results. How many rows it changed.
  template <class... Values>
  int run(const Values&... values) {
    with(values...);
    return finish();
  }
  // The first column of the first row, if there is one.
  template <class... Values>
  std::optional<std::int64_t> first(const Values&... values) {
    with(values...);
    return take_first();
  }
  // True: there is a (further) row. After false it has to begin anew.
  bool step();

  // Of the row, from 0 on. A text is good until the next step.
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

// All of what happens until commit(), or nothing; whoever writes has the right to from the beginning. For a reader: the
// database as it is at the first question, whatever others write meanwhile.
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
