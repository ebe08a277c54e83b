#include <distrun/runtime/store/store_log.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/file_size_signal.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::stores {
namespace {

constexpr std::size_t kFileSize = std::size_t{12} << 30;  // more than a log and its snapshot need, for any table
constexpr std::size_t kChunk = std::size_t{64} << 10;     // read at a time
constexpr std::size_t kGrowth = 4;                        // growth of a log between two compactions

// Locks, unlocks or queries a byte beyond any file's end.
int presence(int file, int command, short kind) noexcept {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = off_t{1} << 62;
  lock.l_len = 1;
  const int done = ::fcntl(file, command, &lock);
  return done != 0 ? done : command == F_OFD_GETLK && lock.l_type != F_UNLCK ? 1 : 0;
}

bool is_same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

}  // namespace

// Tries to take the lock; check is_held(). Others hold it for microseconds, so it retries a few times but does not
// wait.
class StoreLog::Lock {
 public:
  Lock(int file, int kind, const std::string& path) : file_(file) {
    constexpr int kTries = 20;
    for (int i = 0; i < kTries && !held_; ++i) {
      held_ = ::flock(file_, kind | LOCK_NB) == 0;
      if (held_) return;
      if (errno != EWOULDBLOCK && errno != EINTR) base::throw_errno("cannot lock " + path, errno);
      ::sched_yield();
    }
  }
  ~Lock() {
    if (held_) ::flock(file_, LOCK_UN);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  bool is_held() const noexcept { return held_; }

 private:
  int file_;
  bool held_ = false;
};

StoreLog::StoreLog(std::string path) : path_(std::move(path)) { open(); }

void StoreLog::open() {
  base::Fd opened(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!opened) base::throw_errno("cannot open the store " + path_, errno);
  file_ = std::move(opened);
  opened_by_.set();
  presence(file_.get(), F_OFD_SETLK, F_RDLCK);
  reset();
}

void StoreLog::reset() {
  table_ = KeyTable();
  mark_ = LogMark();
  offset_ = 0;
  has_tail_ = false;
  retry_at_ = 0;
}

// Reads the file's size. Returns false if the path now leads to another file.
bool StoreLog::look() {
  struct stat here {
  }, there{};
  if (::fstat(file_.get(), &here) != 0 || ::stat(path_.c_str(), &there) != 0) return false;
  size_ = static_cast<std::size_t>(here.st_size);
  allocated_ = static_cast<std::size_t>(here.st_blocks) * 512;
  return is_same_file(here, there);
}

std::optional<Reply> StoreLog::try_run(const Request& request) {
  if (opened_by_.is_inherited()) open();
  for (;;) {
    {
      const Lock lock(file_.get(), is_change(request.op) ? LOCK_EX : LOCK_SH, path_);
      if (!lock.is_held()) return std::nullopt;
      if (look()) {
        replay();
        const std::uint64_t before = table_.changed();
        Reply reply = table_.run(request);
        if (table_.changed() == before) return reply;
        write(request);
        if (must_compact()) compact();
        return reply;
      }
    }
    open();
  }
}

void StoreLog::leave() noexcept { presence(file_.get(), F_OFD_SETLK, F_UNLCK); }
bool StoreLog::is_last() const noexcept { return presence(file_.get(), F_OFD_GETLK, F_WRLCK) == 0; }

void StoreLog::remove() {
  if (look()) ::unlink(path_.c_str());
}

// Returns fewer bytes only at the end of the file.
std::string StoreLog::read(std::size_t offset, std::size_t size) const {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t count =
        ::pread(file_.get(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(offset + have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) base::throw_errno("cannot read " + path_, errno);
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

void StoreLog::replay() {
  if (offset_ == 0 && !begin()) return;
  for (Stop stop = apply_all(); stop != Stop::End; stop = apply_all()) {
    if (begin_elsewhere()) continue;
    if (stop == Stop::Damaged) refuse_damage();
    break;
  }
  has_tail_ = offset_ < size_;
}

// Reads the header. Returns false if the file is empty or its header is cut off.
bool StoreLog::begin() {
  const std::string header = read(0, std::min(size_, kLogHeaderSize));
  const std::string_view magic = std::string_view(header).substr(0, kLogMagic.size());
  if (!kLogMagic.starts_with(magic)) {
    if (!magic.starts_with(kLogMagicOfAll)) {
      throw Error(ErrorKind::Failed, path_ + " is not a distrun store: its first bytes differ");
    }
    throw Error(ErrorKind::Failed,
                path_ + " is a store of version " + base::one_line(magic.substr(kLogMagicOfAll.size()), 16) +
                    ", but this program reads version " + std::string(kLogMagic.substr(kLogMagicOfAll.size())) +
                    "; use the same version of distrun in all processes, or another file");
  }
  has_tail_ = !header.empty();
  if (header.size() < kLogHeaderSize) return false;
  const auto mark = mark_in(header);
  if (!mark) throw Error(ErrorKind::Failed, path_ + " is damaged at byte " + std::to_string(kLogMagic.size()));
  mark_ = *mark;
  offset_ = mark_.begin;
  return true;
}

// Returns false if the log still begins where this one does.
bool StoreLog::begin_elsewhere() {
  const auto mark = mark_in(read(0, kLogHeaderSize));
  if (!mark || mark->generation == mark_.generation) return false;
  reset();
  mark_ = *mark;
  offset_ = mark_.begin;
  return true;
}

StoreLog::Stop StoreLog::apply_all() {
  std::size_t wanted = kChunk;
  while (offset_ < size_) {
    const std::string bytes = read(offset_, std::min(wanted, size_ - offset_));
    const bool is_last = bytes.size() < wanted;
    std::string_view rest = bytes;
    RecordAt record = record_at(rest);
    for (; record.kind == RecordAt::Kind::Record; record = record_at(rest)) {
      table_.run(wire::decode<Request>(wire::view_of(record.body.data(), record.body.size())));
      offset_ += record.size;
      rest.remove_prefix(record.size);
    }
    if (record.kind == RecordAt::Kind::Snapshot) return Stop::Snapshot;
    if (record.kind == RecordAt::Kind::Damaged) return Stop::Damaged;
    if (is_last) return Stop::End;
    wanted = std::max(kChunk, record.size);
  }
  return offset_ == size_ ? Stop::End : Stop::Damaged;
}

void StoreLog::refuse_damage() const {
  throw Error(ErrorKind::Failed, path_ + " is damaged at byte " + std::to_string(offset_));
}

// Called with the exclusive lock held and all records replayed. If a write fails, the request has not happened, and the
// next call reads the whole log again.
void StoreLog::write(const Request& request) {
  std::string bytes;
  try {
    bytes = encode_record(request);
    if (offset_ == 0) bytes.insert(0, encode_header(mark_));
    const std::size_t used = std::max(std::min(allocated_, offset_), offset_ - std::min(offset_, mark_.begin));
    if (used + bytes.size() > kFileSize) {
      throw Error(ErrorKind::Overloaded,
                  path_ + " is full: the limit of a store's file is " + std::to_string(kFileSize >> 30) + " GiB");
    }
    if (has_tail_) cut(offset_);
    write_all(bytes, offset_);
  } catch (...) {
    reset();
    throw;
  }
  offset_ += bytes.size();
}

// If a write fails, cuts off the part that was written.
void StoreLog::write_all(const std::string& bytes, std::size_t at) {
  const base::NoFileSizeSignal no_signal;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      (void)!::ftruncate(file_.get(), static_cast<off_t>(offset_));  // if that fails too, the next writer does it
      throw Error(ErrorKind::Overloaded, "cannot write " + path_ + ", which would need " +
                                             std::to_string(at + bytes.size()) + " bytes: " + base::errno_text(error));
    }
    done += static_cast<std::size_t>(count);
  }
}

// Removes an unfinished record of a dead writer.
void StoreLog::cut(std::size_t end) {
  if (::ftruncate(file_.get(), static_cast<off_t>(end)) != 0) base::throw_errno("cannot write " + path_, errno);
}

bool StoreLog::must_compact() const noexcept {
  const std::size_t snapshot = mark_.base - mark_.begin;
  return offset_ - mark_.begin >=
         std::max({kCompactMin, kGrowth * snapshot, kGrowth * table_.snapshot_bytes(), retry_at_});
}

// Called with the exclusive lock held, after the write. Without disk space the log stays as it is.
void StoreLog::compact() noexcept {
  try {
    LogMark next;
    next.generation = mark_.generation + 1;
    next.begin = offset_ + kRecordHeadSize;
    next.base = write_snapshot(offset_);
    write_all(encode(next), place_of(next));
    mark_ = next;
    offset_ = next.base;
    retry_at_ = 0;
    release_before(next.begin);
  } catch (const std::exception&) {
    retry_at_ = 2 * (offset_ - mark_.begin);
  }
}

// Returns the end of the snapshot.
std::size_t StoreLog::write_snapshot(std::size_t at) {
  const auto append = [&](const std::string& bytes) {
    write_all(bytes, at);
    at += bytes.size();
  };
  append(encode_snapshot_head());
  table_.snapshot([&](const Request& request) { append(encode_record(request)); });
  return at;
}

// On a file system without holes the file only grows.
void StoreLog::release_before(std::size_t end) const noexcept {
  const auto size = static_cast<off_t>(end - kLogHeaderSize);
  while (::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kLogHeaderSize, size) != 0 &&
         errno == EINTR) {
  }
}

}  // namespace distrun::stores
