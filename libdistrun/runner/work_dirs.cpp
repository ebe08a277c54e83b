#include <distrun/runner/work_dirs.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/base/error.hpp>
#include <distrun/proc/run_files.hpp>

namespace distrun::runner {
namespace {

void make(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) base::throw_errno("cannot make " + path, errno);
}

}  // namespace

WorkDirs::WorkDirs(const std::string& run_dir, int number, int world_size, bool keep)
    : shared_(run_dir + "/" + std::to_string(number)), world_size_(world_size), keep_(keep) {
  make(run_dir);
  make(shared_);
  for (int rank = 0; rank < world_size; ++rank) make(of(rank));
}

WorkDirs::~WorkDirs() {
  if (keep_) return;
  // The usual case, empty directories, costs a call each; anything else is searched.
  bool empty = true;
  for (int rank = 0; rank < world_size_; ++rank) empty = ::rmdir(of(rank).c_str()) == 0 && empty;
  if (!empty || ::rmdir(shared_.c_str()) != 0) proc::remove_tree(shared_);
}

std::string WorkDirs::of(int rank) const { return shared_ + "/rank" + std::to_string(rank); }

}  // namespace distrun::runner
