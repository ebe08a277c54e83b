#include <distrun/runner/proc/run_files.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::proc {
namespace {

bool is_ours(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

std::vector<std::string> names_with(const std::string& part, const std::string& directory) {
  std::vector<std::string> names;
  DIR* entries = ::opendir(directory.c_str());
  if (entries == nullptr) return names;
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name.find(part) != std::string::npos) names.push_back(directory + "/" + name);
  }
  ::closedir(entries);
  return names;
}

// What a test leaves there must be seen.
std::string readable_current_directory() {
  std::error_code error;
  const std::string path = std::filesystem::current_path(error).string();
  if (error) {
    throw Error(ErrorKind::Failed, "cannot tell the directory that this is started in: " + error.message() +
                                       "; was it removed? Start in another one");
  }
  if (::access(".", R_OK | X_OK) != 0) {
    throw Error(ErrorKind::Failed, "cannot read the directory that this is started in, " + path + ": " +
                                       base::errno_text(errno) + "; start in another one");
  }
  return path;
}

constexpr int kDepthMax = 200;  // descriptors, and the stack

bool is_mounted(int directory, const char* name) {
  struct statx status {};
  if (::statx(directory, name, AT_SYMLINK_NOFOLLOW, 0, &status) != 0) return false;
  return (status.stx_attributes & status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
}

// Of one that a test has closed, too: it is this user's.
base::Fd open_directory(int above, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  base::Fd directory(::openat(above, name, kFlags));
  if (!directory && errno == EACCES && ::fchmodat(above, name, 0700, 0) == 0) {
    directory = base::Fd(::openat(above, name, kFlags));
  }
  return directory;
}

void remove_below(int above, const char* name, const std::string& path, int depth, std::string& first);

void empty(base::Fd directory, const std::string& path, int depth, std::string& first) {
  ::fchmod(directory.get(), 0700);  // to remove from it takes more than to read it
  DIR* entries = ::fdopendir(directory.get());
  if (entries == nullptr) return;
  const int opened = directory.release();
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") remove_below(opened, entry->d_name, path + "/" + name, depth + 1, first);
  }
  ::closedir(entries);
}

// `first` gets what cannot be removed first, and why.
void remove_below(int above, const char* name, const std::string& path, int depth, std::string& first) {
  if (::unlinkat(above, name, 0) == 0 || errno == ENOENT) return;
  int error = errno;
  if (is_mounted(above, name)) {
    if (first.empty()) first = path + ": something is mounted there";
    return;
  }
  if (error == EISDIR || error == EPERM) {  // a directory, on Linux and elsewhere; or what nobody may remove
    base::Fd directory = depth < kDepthMax ? open_directory(above, name) : base::Fd();
    if (directory) empty(std::move(directory), path, depth, first);
    if (::unlinkat(above, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return;
    if (errno != ENOTDIR) error = errno;
  }
  if (first.empty()) first = path + ": " + base::errno_text(error);
}

}  // namespace

RunPlaces RunPlaces::here(std::string run_id) {
  const char* named = std::getenv("TMPDIR");
  const std::string temp = named != nullptr && *named == '/' ? named : "/tmp";
  // One name for one place, for it may be both the temp and the start directory.
  std::error_code error;
  const std::string canonical = std::filesystem::canonical(temp, error).string();
  return {std::move(run_id), error ? temp : canonical, readable_current_directory()};
}

std::string remove_tree(const std::string& path) {
  std::string first;
  remove_below(AT_FDCWD, path.c_str(), path, 0, first);
  return first;
}

void tell_stuck(const RemovedFiles& files) {
  for (const std::string& stuck : files.stuck) {
    std::fprintf(stderr, "distrun: could not remove %s\n", base::one_line(stuck, 1000).c_str());
  }
}

RemovedFiles remove_run_files(const RunPlaces& places, bool keep_run_dir) {
  RemovedFiles files;
  const std::set<std::string> directories{"/dev/shm", places.temp_dir, places.start_dir};
  for (const std::string& directory : directories) {
    for (const std::string& path : names_with(places.run_id, directory)) {
      if (!is_ours(path) || (keep_run_dir && path == directory + "/distrun-" + places.run_id)) continue;
      std::string why_not = remove_tree(path);
      if (why_not.empty()) {
        files.removed.push_back(path);
      } else {
        files.stuck.push_back(std::move(why_not));
      }
    }
  }
  return files;
}

}  // namespace distrun::proc
