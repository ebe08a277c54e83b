#include <distrun/plugin/rank/held.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/held_names.hpp>

namespace distrun::rank {
namespace {

bool has_changed(const wire::WatchedDirectory& directory) {
  struct stat status {};
  if (::stat(directory.path.c_str(), &status) != 0) return false;
  return status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec != directory.modified_ns;
}

}  // namespace

std::vector<wire::HeldName> held_in(const std::vector<wire::WatchedDirectory>& watched) {
  std::vector<wire::HeldName> held;
  if (std::none_of(watched.begin(), watched.end(), has_changed)) return held;
  std::vector<std::string> directories;
  for (const wire::WatchedDirectory& directory : watched) directories.push_back(directory.path);
  for (base::HeldName& name : base::held_names("self", directories)) {
    held.push_back({std::move(name.path), name.device, name.inode});
  }
  return held;
}

}  // namespace distrun::rank
