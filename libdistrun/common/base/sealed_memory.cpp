#include <distrun/common/base/sealed_memory.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/file_size_signal.hpp>

namespace distrun::base {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

[[noreturn]] void fail(const char* name, std::size_t bytes, int number) {
  throw_errno("cannot make " + std::to_string(bytes) + " bytes of shared memory \"" + name + "\"", number);
}

}  // namespace

Fd make_sealed_memory(const char* name, std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<off_t>::max())) fail(name, bytes, EFBIG);
  const NoFileSizeSignal no_signal;
  Fd memory(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) {
    fail(name, bytes, errno);
  }
  return memory;
}

std::optional<std::size_t> sealed_size(int fd) noexcept {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  struct stat found {};
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(fd, &found) != 0) return std::nullopt;
  return static_cast<std::size_t>(found.st_size);
}

}  // namespace distrun::base
