#include <distrun/runner/proc/program.hpp>

#include <unistd.h>

#include <filesystem>

#include <distrun/common/base/error.hpp>

namespace distrun::proc {

std::string program_beside(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (self.parent_path() / name).string();
  if (error || ::access(path.c_str(), X_OK) != 0) {
    throw Error(ErrorKind::Failed,
                "cannot find " + path + ", which belongs beside " + self.filename().string() + "; reinstall distrun");
  }
  return path;
}

}  // namespace distrun::proc
