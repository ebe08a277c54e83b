#pragma once
// The log behind a FileStore: the requests that changed the table, in order (log_format.hpp).
//
// Readers hold the file's lock (flock) shared, writers exclusively; the kernel releases a lock when its holder dies. A
// writer that dies leaves at most a record, or a snapshot, that no mark names: readers do not reach it, and the next
// writer cuts it off. If the file was removed or replaced while no process held it, the log starts empty. Not
// thread-safe.
//
// Compaction. When a log has kCompactMin bytes, and four times the bytes of its snapshot and of its table, the writer
// appends a new snapshot, writes the mark by which the log begins there, and releases the space before it (a hole in
// the file, where the file system supports holes). So a compaction writes at most a third of what was written since the
// last one, and a file takes at most five times what its table needs or needed then, or 1 MiB. If the writer is killed
// in between, it leaves
//
//   a part of the snapshot   the log ends before it; the next writer cuts it away
//   a torn mark              the other mark counts: the same
//   a hole that is missing   the next compaction makes it
//
// Other processes notice a compaction when they read on: they find kSnapshotBegins before the snapshot, or zeros in
// released space. They then read the marks; if the log begins elsewhere now, they read it from there into an empty
// table.
//
// Another lock shows that a log is in use (fcntl, of the open file, on a byte beyond the file's end); it ends with its
// process.
//
// flock() locks belong to the open file, which a forked child shares with its parent, so parent and child would not
// exclude each other. A log that is used in a child reopens the file.
#include <optional>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/store_server/key_table.hpp>
#include <distrun/runtime/store/log_format.hpp>

namespace distrun::stores {

class StoreLog {
 public:
  static constexpr std::size_t kCompactMin = std::size_t{1} << 20;

  // Throws Error{Failed} if the file can't be opened.
  explicit StoreLog(std::string path);

  const std::string& path() const noexcept { return path_; }
  // Performs the request on the file's current contents, and appends it if it changed the table. Nothing: another
  // process holds the lock, as every reader and writer does for a moment. Throws as KeyTable::run(), Error{Failed} if
  // the file is damaged or not a store, Error{Overloaded} if it cannot grow; nothing has been done then.
  std::optional<Reply> try_run(const Request& request);
  std::vector<std::string> missing(const Request& request) const { return table_.named_missing(request); }
  // Hides this log from is_last() of others; it can still be used.
  void leave() noexcept;
  // Returns whether no other log of this file is in use, in any process.
  bool is_last() const noexcept;
  // Removes the file. Called by the last log.
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
  std::size_t size_ = 0;       // of the file, at the last look()
  std::size_t allocated_ = 0;  // bytes of the file on the disk
  LogMark mark_;               // where the log that the table is from begins
  KeyTable table_;             // result of the log before `offset_`
  std::size_t offset_ = 0;     // bytes after it are new or cut off; 0: nothing was read
  bool has_tail_ = false;      // an incomplete record is at `offset_`
  std::size_t retry_at_ = 0;   // size of the log at which a failed compaction is retried
};

}  // namespace distrun::stores
