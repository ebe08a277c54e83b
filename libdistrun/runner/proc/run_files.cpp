#include <distrun/runner/proc/run_files.hpp>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include <distrun/common/base/error.hpp>
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

// Must be readable, to find files that a test leaves there.
std::string readable_current_directory() {
  std::error_code error;
  const std::string path = std::filesystem::current_path(error).string();
  if (error) {
    throw Error(ErrorKind::Failed, "cannot find the current directory: " + error.message() +
                                       "; if it was removed, start in another directory");
  }
  if (::access(".", R_OK | X_OK) != 0) {
    throw Error(ErrorKind::Failed, "cannot read the current directory, " + path + ": " + base::errno_text(errno) +
                                       "; start in another directory");
  }
  return path;
}

}  // namespace

RunPlaces RunPlaces::here(std::string run_id) {
  const char* named = std::getenv("TMPDIR");
  const std::string temp = named != nullptr && *named == '/' ? named : "/tmp";
  // Uses canonical names, since the temp and the start directory may be the same.
  std::error_code error;
  const std::string canonical = std::filesystem::canonical(temp, error).string();
  return {std::move(run_id), error ? temp : canonical, readable_current_directory()};
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
