#include <distrun/runner/attempt/work_dirs.hpp>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/proc/run_files.hpp>

namespace distrun::runner {
namespace {

constexpr mode_t kMode = 0700;

void make(const std::string& path) {
  if (::mkdir(path.c_str(), kMode) != 0 && errno != EEXIST) base::throw_errno("cannot create " + path, errno);
}

// Returns whether `path` is a real directory (no link) with our mode and exactly `entries` entries.
bool is_untouched(const std::string& path, int entries) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || status.st_mode != (S_IFDIR | kMode)) return false;
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return false;
  int found = -2;  // . and ..
  while (::readdir(directory) != nullptr) ++found;
  ::closedir(directory);
  return found == entries;
}

}  // namespace

WorkDirs::WorkDirs(WorkDirPool& pool, std::string shared, int world_size)
    : pool_(pool), shared_(std::move(shared)), world_size_(world_size) {}

WorkDirs::~WorkDirs() { pool_.give_back(*this); }

bool WorkDirs::kept() const noexcept { return pool_.keep_ || kept_; }

std::vector<proc::NewName> WorkDirs::left_in_tmp() const {
  std::vector<proc::NewName> left;
  for (int i = 0; i < tmp_count() && !gone_; ++i) {
    for (proc::NewName& name : proc::names_in(tmp_of(i))) left.push_back(std::move(name));
  }
  return left;
}

std::string WorkDirs::clear() {
  if (gone_ || kept()) return "";
  bool untouched = is_untouched(shared_, world_size_ + tmp_count());
  for (int i = 0; i < world_size_ && untouched; ++i) untouched = is_untouched(of(i), 0);
  for (int i = 0; i < tmp_count() && untouched; ++i) untouched = is_untouched(tmp_of(i), 0);
  if (untouched) return "";
  gone_ = true;
  return proc::remove_tree(shared_);
}

std::unique_ptr<WorkDirs> WorkDirPool::take(int world_size) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->world_size != world_size) continue;
    auto dirs = std::make_unique<WorkDirs>(*this, std::move(it->shared), world_size);
    free_.erase(it);
    return dirs;
  }
  make(run_dir_);
  auto dirs = std::make_unique<WorkDirs>(*this, run_dir_ + "/" + std::to_string(++made_), world_size);
  make(dirs->shared());
  for (int rank = 0; rank < world_size; ++rank) make(dirs->of(rank));
  for (int i = 0; i < dirs->tmp_count(); ++i) make(dirs->tmp_of(i));
  return dirs;
}

void WorkDirPool::give_back(WorkDirs& dirs) {
  dirs.clear();
  if (!dirs.gone_ && !dirs.kept()) free_.push_back({dirs.shared(), dirs.world_size_});
}

}  // namespace distrun::runner
