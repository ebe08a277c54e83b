#include <distrun/runner/history/place.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include <distrun/common/base/directories.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>

namespace distrun::history {
namespace {

constexpr mode_t kOwnFile = 0600;

// The types that statfs(2) returns for NFS, SMB (three), AFS, 9P, Ceph, Lustre, GPFS, BeeGFS and FUSE (such as sshfs).
constexpr std::uint32_t kNetworks[] = {0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x5346414f, 0x01021997,
                                       0x00c36400, 0x0bd00bd0, 0x47504653, 0x19830326, 0x65735546};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::string> unless_off(const std::string& place) {
  if (place == "off") return std::nullopt;
  return place;
}

void require_regular(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return;
  throw Error(ErrorKind::Failed, path + " is not a regular file; name another with --history or DISTRUN_HISTORY");
}

}  // namespace

std::optional<std::string> find_place(const std::string& wish) {
  if (!wish.empty()) return unless_off(wish);
  if (const std::string place = variable("DISTRUN_HISTORY"); !place.empty()) return unless_off(place);
  const std::string state = base::user_directory("XDG_STATE_HOME", ".local/state");
  if (state.empty()) return std::nullopt;
  return state + "/distrun/history.db";
}

void make_place(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    base::make_directories(std::filesystem::path(path).parent_path());
    const base::Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, kOwnFile));
    if (!made) base::throw_errno("cannot create " + path, errno);
    if (::fstat(made.get(), &found) != 0) base::throw_errno("cannot inspect " + path, errno);
  }
  require_regular(path, found.st_mode);
}

void check_place(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) require_regular(path, found.st_mode);
}

bool is_shared_by_hosts(const std::string& path) {
  struct statfs system {};
  if (::statfs(path.c_str(), &system) != 0) return false;
  const auto type = static_cast<std::uint32_t>(system.f_type);
  return std::find(std::begin(kNetworks), std::end(kNetworks), type) != std::end(kNetworks);
}

}  // namespace distrun::history
