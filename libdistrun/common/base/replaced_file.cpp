#include <distrun/common/base/replaced_file.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/file_size_signal.hpp>
#include <distrun/common/base/rng.hpp>

namespace distrun::base {
namespace {

std::filesystem::path without_links(const std::string& path) {
  std::error_code failure;
  auto target = std::filesystem::canonical(path, failure);
  return failure ? std::filesystem::path(path) : target;
}

std::filesystem::path name_beside(const std::filesystem::path& target) {
  return target.parent_path() / (".distrun-" + random_hex(12));
}

std::string directory_of(const std::filesystem::path& target) {
  return target.has_parent_path() ? target.parent_path().string() : ".";
}

}  // namespace

ReplacedFile::ReplacedFile(const std::string& path)
    : path_(path), target_(without_links(path)), temporary_(name_beside(target_)) {
  struct stat old {};
  const bool is_there = ::stat(target_.c_str(), &old) == 0;
  if (is_there && S_ISDIR(old.st_mode)) fail(EISDIR);
  if (is_there && !S_ISREG(old.st_mode)) {
    throw Error(ErrorKind::Failed, "cannot write " + path_ + ": it exists and is not a regular file");
  }
  fd_.reset(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd_) fail(errno);
  if (!is_there || ::fchmod(fd_.get(), old.st_mode & 07777U) == 0) return;
  const int why = errno;
  ::unlink(temporary_.c_str());
  fail(why);
}

ReplacedFile::~ReplacedFile() {
  if (fd_) ::unlink(temporary_.c_str());
}

void ReplacedFile::write(std::span<const std::byte> bytes) {
  const NoFileSizeSignal no_signal;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EFBIG) {
      throw_errno("cannot write " + std::to_string(bytes.size()) + " bytes more to " + path_, EFBIG);
    }
    if (written < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void ReplacedFile::take_place(Sync sync) {
  if (sync == Sync::Yes && ::fsync(fd_.get()) != 0) fail(errno);
  // Opened before, since nothing may fail once the file has its new name.
  const Fd directory(sync == Sync::Yes ? ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                       : -1);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  fd_.reset();
  // So that the new name is there after a loss of power. Not all file systems can; the file is whole in any case.
  if (directory) ::fsync(directory.get());
}

void ReplacedFile::fail(int number) const { throw_errno("cannot write " + path_, number); }

}  // namespace distrun::base
