#pragma once
// The log behind a FileStore: the requests that changed the table, in their order, each behind its size and checksum.
//
//   "dstore01"  { u32 size, u32 crc-32 of the bytes, the bytes of a Request }...
//
// Who reads holds the file's lock (flock) shared, who writes alone; the kernel gives a lock back when its holder dies.
// A writer that dies leaves at most a record that is cut off: readers do not reach it, and the next writer cuts it
// away. A file that was removed, or replaced, while nobody held it begins anew. Not thread-safe.
//
// That a log is there is a lock, too (fcntl, of the open file, on a byte that no file has): it goes with its process.
//
// flock() locks belong to the open file, which a forked child shares with its parent, so they do not exclude each
// other. A log that is used in a child opens the file again.
#include <optional>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/store/key_table.hpp>

namespace distrun::stores {

class StoreLog {
 public:
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

  void open();
  bool is_current() const;
  std::string read_from(std::size_t offset) const;
  void replay();
  bool apply_next(const std::string& bytes, std::size_t& at);
  void write(const Request& request);
  void write_all(const std::string& bytes);

  const std::string path_;
  base::Fd file_;
  pid_t opened_by_ = 0;
  KeyTable table_;          // of the first `offset_` bytes
  std::size_t offset_ = 0;  // what lies behind it is new, or cut off
  bool has_tail_ = false;   // something was cut off there, when it was last read
};

}  // namespace distrun::stores
