// Where NCCL's library is searched.
#include <distrun/runtime/collectives/nccl/library_files.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include "support/scratch.hpp"

namespace distrun::collectives::nccl_line {
namespace {

namespace fs = std::filesystem;

// Sets an environment variable for a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const there = std::getenv(name)) before_ = there;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

std::string add_package(const std::string& prefix, const std::string& packages) {
  const std::string folder = prefix + "/" + packages + "/nvidia/nccl/lib";
  fs::create_directories(folder);
  testing::write_file(folder + "/libnccl.so.2", "");
  return folder + "/libnccl.so.2";
}

void add_python(const std::string& prefix) {
  fs::create_directories(prefix + "/bin");
  testing::write_file(prefix + "/bin/python3", "");
}

TEST_CASE("the library of NCCL is searched by the loader, then in the packages of each Python", "[nccl]") {
  const testing::Scratch scratch;
  const std::string active = scratch.path() + "/active", real = scratch.path() + "/real",
                    linked = scratch.path() + "/linked", home = scratch.path() + "/home";
  add_python(real);
  fs::create_directories(linked + "/bin");
  fs::create_symlink(real + "/bin/python3", linked + "/bin/python3");
  const std::vector<std::string> expected{kLibraryName, add_package(active, "lib/python3.11/site-packages"),
                                          add_package(linked, "lib64/python3.9/site-packages"),
                                          add_package(real, "lib/python3.12/dist-packages"),
                                          add_package(home + "/.local", "lib/python3.12/site-packages")};
  const Variable none(kLibraryVariable, ""), environment("VIRTUAL_ENV", active), own("HOME", home),
      path("PATH", "/nowhere:relative::" + linked + "/bin");
  const std::vector<std::string> files = library_files();
  REQUIRE(files.size() >= expected.size());  // followed by this machine's files
  CHECK(std::vector<std::string>(files.begin(), files.begin() + 5) == expected);
  CHECK(std::all_of(files.begin() + 1, files.end(), [](const std::string& file) { return fs::exists(file); }));
}

TEST_CASE("DISTRUN_NCCL names the library of NCCL or its folder, and no other library is used", "[nccl]") {
  const testing::Scratch scratch;
  const Variable file(kLibraryVariable, "/opt/nccl/libnccl.so.2.28.9");
  CHECK(library_files() == std::vector<std::string>{"/opt/nccl/libnccl.so.2.28.9"});
  const Variable folder(kLibraryVariable, scratch.path());
  CHECK(library_files() == std::vector<std::string>{scratch.path() + "/libnccl.so.2"});
}

}  // namespace
}  // namespace distrun::collectives::nccl_line
