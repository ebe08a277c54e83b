// Directories may be nested more deeply than the limits on descriptors, stack or path length allow. So the walk keeps a
// list of the directories on its path, of which only the innermost are open. Each directory is read once. On the way
// back, ".." reopens a closed one.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/runner/proc/run_files.hpp>

namespace distrun::proc {
namespace {

constexpr std::size_t kOpenMax = 16;
constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool is_mounted(int directory, const char* name) {
  struct statx status {};
  if (::statx(directory, name, AT_SYMLINK_NOFOLLOW, 0, &status) != 0) return false;
  return (status.stx_attributes & status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
}

// Also opens a directory that a test has made inaccessible, since this user owns it.
base::Fd open_directory(int above, const char* name) {
  base::Fd directory(::openat(above, name, kFlags));
  if (!directory && errno == EACCES && ::fchmodat(above, name, 0700, 0) == 0) {
    directory = base::Fd(::openat(above, name, kFlags));
  }
  return directory;
}

std::vector<std::string> names_in_open(int directory) {
  std::vector<std::string> names;
  DIR* const entries = ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  if (entries == nullptr) return names;
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(entries);
  return names;
}

class Removal {
 public:
  explicit Removal(const std::string& path) : path_(path) {
    std::string top = path;
    remove(AT_FDCWD, std::move(top));
    while (!levels_.empty()) step();
  }
  std::string take_first() { return std::move(first_); }

 private:
  // A directory that is being emptied.
  struct Level {
    std::string name;  // in its parent; of the first level the path
    base::Fd open;     // empty: closed meanwhile
    struct stat status {};
    std::vector<std::string> names;  // still to be removed
    std::size_t path_size = 0;       // of the parent's path
  };

  // Removes `name`, reports why not, or makes it the innermost level.
  void remove(int above, std::string name) {
    if (::unlinkat(above, name.c_str(), 0) == 0 || errno == ENOENT) return;
    const int error = errno;
    if (is_mounted(above, name.c_str())) return tell(name, "a file system is mounted there");
    // It is a directory (the error differs between systems), or a file that cannot be removed.
    if (error != EISDIR && error != EPERM) return tell(name, base::errno_text(error));
    base::Fd directory = open_directory(above, name.c_str());
    if (directory) return enter(std::move(directory), std::move(name));
    if (::unlinkat(above, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return;
    tell(name, base::errno_text(errno == ENOTDIR ? error : errno));
  }

  void enter(base::Fd directory, std::string name) {
    ::fchmod(directory.get(), 0700);  // removing entries needs more rights than reading
    Level& level = levels_.emplace_back();
    ::fstat(directory.get(), &level.status);
    level.names = names_in_open(directory.get());
    level.open = std::move(directory);
    level.path_size = path_.size();
    if (levels_.size() > 1) path_ += "/" + name;
    level.name = std::move(name);
    if (levels_.size() > kOpenMax) levels_[levels_.size() - 1 - kOpenMax].open.reset();
  }

  void step() {
    Level& level = levels_.back();
    if (level.names.empty()) return leave();
    std::string name = std::move(level.names.back());
    level.names.pop_back();
    remove(level.open.get(), std::move(name));
  }

  // Finishes the innermost directory, which is as empty as it can be.
  void leave() {
    const Level left = std::move(levels_.back());
    levels_.pop_back();
    path_.resize(left.path_size);
    if (!levels_.empty() && !levels_.back().open && !reopen(levels_.back(), left.open.get())) {
      tell(left.name, "it was moved while it was being emptied");
      levels_.clear();
      return;
    }
    const int above = levels_.empty() ? AT_FDCWD : levels_.back().open.get();
    if (::unlinkat(above, left.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
      tell(left.name, base::errno_text(errno));
    }
  }

  static bool reopen(Level& level, int below) {
    base::Fd above(::openat(below, "..", kFlags));
    struct stat status {};
    if (!above || ::fstat(above.get(), &status) != 0) return false;
    if (status.st_ino != level.status.st_ino || status.st_dev != level.status.st_dev) return false;
    level.open = std::move(above);
    return true;
  }

  // Records an error about an entry of the innermost directory; only the first is kept.
  void tell(const std::string& name, const std::string& why) {
    if (first_.empty()) first_ = (levels_.empty() ? path_ : path_ + "/" + name) + ": " + why;
  }

  std::vector<Level> levels_;
  std::string path_;  // of the innermost directory
  std::string first_;
};

}  // namespace

std::string remove_tree(const std::string& path) { return Removal(path).take_first(); }

}  // namespace distrun::proc
