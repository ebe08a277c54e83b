#include <distrun/runner/report/files/whole_file.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runner/report/files/destination.hpp>
#include <distrun/runner/report/files/outlet.hpp>

namespace distrun::report {
namespace {

// A reader that takes nothing for this long has gone, even if its pipe is open.
constexpr base::Milliseconds kPatience = std::chrono::minutes(10);
constexpr std::size_t kPiece = 1U << 20U;

[[noreturn]] void fail(const std::string& path, int number) { base::throw_errno("cannot write " + path, number); }

void write_to(int fd, const std::string& path, std::string_view content) {
  Outlet outlet(fd);
  while (!content.empty() && outlet.error() == 0) {  // in pieces: an outlet keeps a copy of each
    outlet.write(content.substr(0, kPiece));
    outlet.drain(kPatience);
    content.remove_prefix(std::min(kPiece, content.size()));
  }
  if (outlet.error() != 0) fail(path, outlet.error());
}

void write_directly(const std::string& path, std::string_view content) {
  const Destination destination = open_destination(path);
  write_to(destination.fd.get(), path, content);
}

// A link stays a link: its target is what gets replaced.
std::filesystem::path resolved(const std::string& path) {
  std::error_code failure;
  auto target = std::filesystem::canonical(path, failure);
  return failure ? std::filesystem::path(path) : target;
}

// The file beside; it disappears again unless it has taken its place.
class Temporary {
 public:
  explicit Temporary(const std::filesystem::path& target)
      : target_(target), name_(target.parent_path() / (".distrun-" + base::random_hex(12))) {
    fd_.reset(open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  }
  ~Temporary() {
    if (fd_) unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  int fd() const noexcept { return fd_.get(); }
  bool take_place() {
    if (rename(name_.c_str(), target_.c_str()) != 0) return false;
    fd_.reset();
    return true;
  }

 private:
  std::filesystem::path target_;
  std::filesystem::path name_;
  base::Fd fd_;
};

void replace(const std::string& path, std::string_view content, const struct stat* old) {
  Temporary temporary(resolved(path));
  if (temporary.fd() < 0) fail(path, errno);
  if (old != nullptr && fchmod(temporary.fd(), old->st_mode & 07777U) != 0) fail(path, errno);
  write_to(temporary.fd(), path, content);
  if (!temporary.take_place()) fail(path, errno);
}

}  // namespace

void write_whole_file(const std::string& path, std::string_view content) {
  if (descriptor_named(path)) return write_directly(path, content);
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail(path, EISDIR);
  if (exists && !S_ISREG(old.st_mode)) return write_directly(path, content);
  replace(path, content, exists ? &old : nullptr);
}

}  // namespace distrun::report
