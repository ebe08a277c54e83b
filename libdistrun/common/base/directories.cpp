#include <distrun/common/base/directories.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include <distrun/common/base/error.hpp>

namespace distrun::base {
namespace {

constexpr mode_t kOwnDirectory = 0700;

std::string absolute_path_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

}  // namespace

void make_directories(const std::filesystem::path& directory) {
  if (directory.empty() || ::mkdir(directory.c_str(), kOwnDirectory) == 0 || errno == EEXIST) return;
  if (errno != ENOENT) throw_errno("cannot create the directory " + directory.string(), errno);
  make_directories(directory.parent_path());
  if (::mkdir(directory.c_str(), kOwnDirectory) == 0 || errno == EEXIST) return;
  throw_errno("cannot create the directory " + directory.string(), errno);
}

std::string user_directory(const char* variable, const char* below_home) {
  if (std::string wish = absolute_path_in(variable); !wish.empty()) return wish;
  const std::string home = absolute_path_in("HOME");
  return home.empty() ? "" : home + "/" + below_home;
}

}  // namespace distrun::base
