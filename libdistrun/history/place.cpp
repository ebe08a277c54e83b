#include <distrun/history/place.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <distrun/base/error.hpp>
#include <distrun/base/fd.hpp>

namespace distrun::history {
namespace {

constexpr mode_t kOwnDirectory = 0700;
constexpr mode_t kOwnFile = 0600;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::string> unless_off(const std::string& place) {
  if (place == "off") return std::nullopt;
  return place;
}

void make_directories(const std::filesystem::path& directory) {
  if (directory.empty() || ::mkdir(directory.c_str(), kOwnDirectory) == 0 || errno == EEXIST) return;
  if (errno != ENOENT) base::throw_errno("cannot make the directory " + directory.string(), errno);
  make_directories(directory.parent_path());
  if (::mkdir(directory.c_str(), kOwnDirectory) == 0 || errno == EEXIST) return;
  base::throw_errno("cannot make the directory " + directory.string(), errno);
}

}  // namespace

std::optional<std::string> find_place(const std::string& wish) {
  if (!wish.empty()) return unless_off(wish);
  if (const std::string place = variable("DISTRUN_HISTORY"); !place.empty()) return unless_off(place);
  // A relative one means nothing, says the XDG specification.
  const std::string state = variable("XDG_STATE_HOME");
  if (state.starts_with('/')) return state + "/distrun/history.db";
  const std::string home = variable("HOME");
  if (home.starts_with('/')) return home + "/.local/state/distrun/history.db";
  return std::nullopt;
}

void make_place(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    make_directories(std::filesystem::path(path).parent_path());
    const base::Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, kOwnFile));
    if (!made) base::throw_errno("cannot make " + path, errno);
    if (::fstat(made.get(), &found) != 0) base::throw_errno("cannot look at " + path, errno);
  }
  if (!S_ISREG(found.st_mode)) {
    throw Error(ErrorKind::Failed, path + " is no regular file; name another with --history or DISTRUN_HISTORY");
  }
}

}  // namespace distrun::history
