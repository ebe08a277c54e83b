#include <distrun/proc/run_files.hpp>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include <distrun/base/error.hpp>

namespace distrun::proc {
namespace {

bool is_ours(const std::string& path) {
  struct stat status{};
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

}  // namespace

RunPlaces RunPlaces::here(std::string run_id) {
  const char* named = std::getenv("TMPDIR");
  const std::string temp = named != nullptr && *named == '/' ? named : "/tmp";
  // One name for one place, for it may be both the temp and the start directory.
  std::error_code error;
  const std::string canonical = std::filesystem::canonical(temp, error).string();
  return {std::move(run_id), error ? temp : canonical, readable_current_directory()};
}

void remove_tree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::vector<std::string> remove_run_files(const RunPlaces& places, bool keep_run_dir) {
  std::vector<std::string> removed;
  const std::set<std::string> directories{"/dev/shm", places.temp_dir, places.start_dir};
  for (const std::string& directory : directories) {
    for (const std::string& path : names_with(places.run_id, directory)) {
      if (!is_ours(path) || (keep_run_dir && path == places.run_dir())) continue;
      remove_tree(path);
      removed.push_back(path);
    }
  }
  return removed;
}

}  // namespace distrun::proc
