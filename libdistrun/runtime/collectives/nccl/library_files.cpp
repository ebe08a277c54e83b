#include <distrun/runtime/collectives/nccl/library_files.hpp>

#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace distrun::collectives::nccl_line {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Calls give(file) for each file that the pattern matches, in alphabetical order.
template <class Give>
void each_match(const std::string& pattern, const Give& give) {
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) give(found.gl_pathv[i]);
  }
  ::globfree(&found);
}

// Prefixes of Python installations: packages are in PREFIX/lib/python3.11/site-packages.
class Prefixes {
 public:
  void add(const fs::path& prefix) {
    if (prefix.is_absolute() && std::find(all_.begin(), all_.end(), prefix) == all_.end()) all_.push_back(prefix);
  }
  // Adds the prefix of PREFIX/bin/python3, and that of the program to which it is a link.
  void add_python(const fs::path& program) {
    std::error_code failed;
    if (!fs::exists(program, failed)) return;
    add(program.parent_path().parent_path());
    const fs::path real = fs::canonical(program, failed);
    if (!failed) add(real.parent_path().parent_path());
  }
  const std::vector<fs::path>& all() const { return all_; }

 private:
  std::vector<fs::path> all_;
};

// Lists the active environment, then the Pythons on the path, then the usual places of other installations.
std::vector<fs::path> python_prefixes() {
  Prefixes prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) prefixes.add(variable(name));
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) prefixes.add_python(fs::path(folder) / "python3");
  const std::string home = variable("HOME");
  if (!home.empty()) prefixes.add(home + "/.local");
  const auto add = [&](const char* prefix) { prefixes.add(prefix); };
  if (!home.empty()) each_match(home + "/.pyenv/versions/*", add);
  for (const char* prefix : {"/usr/local", "/usr"}) add(prefix);
  each_match("/opt/*", add);
  return prefixes.all();
}

}  // namespace

std::vector<std::string> library_files() {
  if (const std::string named = variable(kLibraryVariable); !named.empty()) {
    std::error_code failed;
    return {fs::is_directory(named, failed) ? (fs::path(named) / kLibraryName).string() : named};
  }
  std::vector<std::string> files{kLibraryName};
  const auto add = [&](const char* file) { files.emplace_back(file); };
  for (const fs::path& prefix : python_prefixes()) {
    each_match(prefix.string() + "/lib*/python3*/*-packages/nvidia/nccl/lib/" + kLibraryName, add);
  }
  const std::string toolkit = variable("CUDA_HOME");
  for (const std::string& folder : {toolkit, std::string("/usr/local/cuda")}) {
    if (!folder.empty()) each_match(folder + "/lib64/" + kLibraryName, add);
  }
  return files;
}

}  // namespace distrun::collectives::nccl_line
