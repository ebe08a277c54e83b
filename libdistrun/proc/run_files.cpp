#include <distrun/proc/run_files.hpp>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

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

}  // namespace

RunPlaces RunPlaces::here(std::string run_id) {
  const char* named = std::getenv("TMPDIR");
  const std::string temp = named != nullptr && *named == '/' ? named : "/tmp";
  // One name for one place, for it may be both the temp and the start directory.
  std::error_code error;
  const std::string canonical = std::filesystem::canonical(temp, error).string();
  std::error_code ignored;
  return {std::move(run_id), error ? temp : canonical, std::filesystem::current_path(ignored).string()};
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
