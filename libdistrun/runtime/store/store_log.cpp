#include <distrun/runtime/store/store_log.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::stores {
namespace {

constexpr std::string_view kLogMagic = "dstore01";
constexpr std::size_t kFileSize = std::size_t{4} << 30;
constexpr std::size_t kRecordSize = 2 * kTableSize;  // no request is larger

std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xEDB88320U ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  return table;
}

// CRC-32 as of zlib.
std::uint32_t crc_of(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = make_crc_table();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::string record_of(const Request& request) {
  const wire::Bytes body = wire::encode(request);
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  const std::array<std::uint32_t, 2> head{static_cast<std::uint32_t>(text.size()), crc_of(text)};
  return std::string(reinterpret_cast<const char*>(head.data()), sizeof head).append(text);
}

// Of a byte far behind what a file can have.
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

// Held, or not. Others hold it for microseconds: it is worth to try some times, but not to wait.
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
  file_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file_) base::throw_errno("cannot open the store " + path_, errno);
  opened_by_ = ::getpid();
  presence(file_.get(), F_OFD_SETLK, F_RDLCK);
  table_ = KeyTable();
  offset_ = 0;
}

bool StoreLog::is_current() const {
  struct stat here {
  }, there{};
  return ::fstat(file_.get(), &here) == 0 && ::stat(path_.c_str(), &there) == 0 && is_same_file(here, there);
}

std::optional<Reply> StoreLog::try_run(const Request& request) {
  if (opened_by_ != ::getpid()) open();
  for (;;) {
    {
      const Lock lock(file_.get(), is_change(request.op) ? LOCK_EX : LOCK_SH, path_);
      if (!lock.is_held()) return std::nullopt;
      if (is_current()) {
        replay();
        const std::uint64_t before = table_.changed();
        Reply reply = table_.run(request);
        if (table_.changed() != before) write(request);
        return reply;
      }
    }
    open();
  }
}

void StoreLog::leave() noexcept { presence(file_.get(), F_OFD_SETLK, F_UNLCK); }
bool StoreLog::is_last() const noexcept { return presence(file_.get(), F_OFD_GETLK, F_WRLCK) == 0; }

void StoreLog::remove() {
  if (is_current()) ::unlink(path_.c_str());
}

std::string StoreLog::read_from(std::size_t offset) const {
  struct stat file {};
  if (::fstat(file_.get(), &file) != 0) base::throw_errno("cannot look at " + path_, errno);
  const auto size = static_cast<std::size_t>(file.st_size);
  std::string bytes(size > offset ? size - offset : 0, '\0');
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
  const std::string bytes = read_from(offset_);
  std::size_t at = 0;
  if (offset_ == 0) {
    if (!kLogMagic.starts_with(std::string_view(bytes).substr(0, kLogMagic.size()))) {
      throw Error(ErrorKind::Failed, path_ + " is no store of distrun: it begins otherwise");
    }
    has_tail_ = !bytes.empty();
    if (bytes.size() < kLogMagic.size()) return;
    at = kLogMagic.size();
  }
  while (apply_next(bytes, at)) {
  }
  offset_ += at;
  has_tail_ = at < bytes.size();
}

// False: there is no further one, or it is cut off.
bool StoreLog::apply_next(const std::string& bytes, std::size_t& at) {
  constexpr std::size_t kHead = 2 * sizeof(std::uint32_t);
  if (bytes.size() - at < kHead) return false;
  const std::size_t size = number_at(bytes, at);
  const std::string where = " at byte " + std::to_string(offset_ + at);
  if (size > kRecordSize) throw Error(ErrorKind::Failed, path_ + " is damaged" + where);
  if (bytes.size() - at - kHead < size) return false;
  const std::string_view body(bytes.data() + at + kHead, size);
  if (crc_of(body) != number_at(bytes, at + sizeof(std::uint32_t))) {
    throw Error(ErrorKind::Failed, path_ + " is damaged" + where);
  }
  table_.run(wire::decode<Request>(wire::view_of(body.data(), body.size())));
  at += kHead + size;
  return true;
}

// With the lock held alone, and all replayed. What was not written was not done: then all is read anew.
void StoreLog::write(const Request& request) {
  std::string bytes = record_of(request);
  if (offset_ == 0) bytes.insert(0, kLogMagic);
  try {
    if (offset_ + bytes.size() > kFileSize) {
      throw Error(ErrorKind::Overloaded,
                  path_ + " is full: a store's file has " + std::to_string(kFileSize >> 30) + " GiB at most");
    }
    write_all(bytes);
  } catch (const Error&) {
    table_ = KeyTable();
    offset_ = 0;
    throw;
  }
  offset_ += bytes.size();
}

// Behind what is good. What a dead writer has left goes first, and what was not written whole is cut off again.
void StoreLog::write_all(const std::string& bytes) {
  const auto end = static_cast<off_t>(offset_);
  if (has_tail_ && ::ftruncate(file_.get(), end) != 0) base::throw_errno("cannot write " + path_, errno);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done, end + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      (void)!::ftruncate(file_.get(), end);  // if that fails too, the next writer does it
      throw Error(ErrorKind::Overloaded, "cannot write " + path_ + ": " + base::errno_text(error));
    }
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace distrun::stores
