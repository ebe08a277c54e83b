#pragma once
// The log behind a FileStore: the requests that changed the table, in their order (log_format.hpp).
//
// Who reads holds the file's lock (flock) shared, who writes alone; the kernel gives a lock back when its holder dies.
// A writer that dies leaves at most a record, or a snapshot, that no mark names: readers do not reach it, and the next
// writer cuts it away. If the file was removed or replaced while no process held it, the log starts from empty. Not
// thread-safe.
//
// Compaction. When a log has kCompactMin bytes, and four times as many as its snapshot has and as its table needs, the
// writer appends a new snapshot, writes the mark by which the log begins there, and releases the space before (a hole
// in the file, where the file system has holes). So a compaction writes a third of what was written since the last one,
// at most, and a file takes five times what its table needs, or needed then; or 1 MiB. Killed in between, it leaves
//
//   a part of the snapshot   the log ends before it; the next writer cuts it away
//   a torn mark              the other mark counts: the same
//   a hole that is missing   the next compaction makes it
//
// Other processes notice when they read on: before the snapshot stands kSnapshotBegins, and in released space are
// zeros. At either they look at the marks; if the log begins elsewhere now, they read it from there into an empty
// table.
//
// That a log is there is a lock, too (fcntl, of the open file, on a byte that no file has): it goes with its process.
//
// flock() locks belong to the open file, which a forked child shares with its parent, so they do not exclude each
// other. A log that is used in a child opens the file again.
#include <optional>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/store/key_table.hpp>
#include <distrun/runtime/store/log_format.hpp>

namespace distrun::stores {

class StoreLog {
 public:
  static constexpr std::size_t kCompactMin = std::size_t{1} << 20;

  // Throws Error{Failed} if the file can't be opened.
  explicit StoreLog(std::string path);

  const std::string& path() const noexcept { return path_; }
  // Does it on what the file says now, and writes it down if that has changed the table. Nothing: somebody else holds
  // the lock, which others do as long as they read or write. Throws as KeyTable::run(), Error{Failed} if the file is
  // damaged or no store, Error{Overloaded} if it can't grow; nothing has been done then.
  std::optional<Reply> try_run(const Request& request);
  std::vector<std::string> missing(const Request& request) const { return table_.named_missing(request); }
  // From now on this log is not there for others, though it can still be used.
  void leave() noexcept;
  // No other log of the file is there, in any process.
  bool is_last() const noexcept;
  // The file goes. For the last one.
  void remove();

 private:
  class Lock;
  enum class Stop { End, Snapshot, Damaged };

  void open();
  void reset();
  bool look();
  std::string read(std::size_t offset, std::size_t size) const;
  void replay();
  bool begin();
  bool begin_elsewhere();
  Stop apply_all();
  [[noreturn]] void refuse_damage() const;
  void write(const Request& request);
  void write_all(const std::string& bytes, std::size_t at);
  void cut(std::size_t end);
  bool must_compact() const noexcept;
  void compact() noexcept;
  std::size_t write_snapshot(std::size_t at);
  void release_before(std::size_t end) const noexcept;

  const std::string path_;
  base::Fd file_;
  base::ProcessMark opened_by_;
  std::size_t size_ = 0;       // of the file, when it was looked at
  std::size_t allocated_ = 0;  // of it, on the disk
  LogMark mark_;               // where the log begins that the table is of
  KeyTable table_;             // of its bytes before `offset_`
  std::size_t offset_ = 0;     // what lies behind it is new, or cut off; 0: nothing was read
  bool has_tail_ = false;      // something is cut off there
  std::size_t retry_at_ = 0;   // bytes of the log at which a compaction that failed is tried again
};

}  // namespace distrun::stores
