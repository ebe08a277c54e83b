#include <distrun/common/base/directories.hpp>

#include <sys/stat.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::base {
namespace {

constexpr mode_t kOwnDirectory = 0700;

}  // namespace

void make_directories(const std::filesystem::path& directory) {
  if (directory.empty() || ::mkdir(directory.c_str(), kOwnDirectory) == 0 || errno == EEXIST) return;
  if (errno != ENOENT) throw_errno("cannot create the directory " + directory.string(), errno);
  make_directories(directory.parent_path());
  if (::mkdir(directory.c_str(), kOwnDirectory) == 0 || errno == EEXIST) return;
  throw_errno("cannot create the directory " + directory.string(), errno);
}

}  // namespace distrun::base
