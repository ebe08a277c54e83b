// A plugin's project follows from its location.
#include <catch2/catch.hpp>

#include <filesystem>

#include <distrun/runner/history/project.hpp>

#include "../../support/scratch.hpp"

using namespace distrun;
using namespace distrun::history;
namespace fs = std::filesystem;

TEST_CASE("a plugin belongs to the repository that contains it, wherever it is built there") {
  const testing::Scratch scratch;
  const std::string top = fs::canonical(scratch.path()).string() + "/training";
  fs::create_directories(top + "/.git");
  fs::create_directories(top + "/build/plugins");
  CHECK(project_of(top + "/build/plugins/ring.so", "/") == top);
  CHECK(project_of(top + "/ring.so", "/") == top);
  fs::create_directory_symlink(top + "/build", scratch.path() + "/link");
  CHECK(project_of(scratch.path() + "/link/plugins/ring.so", "/") == top);
}

TEST_CASE("a plugin outside all repositories belongs to the one where it is run, or to its folder") {
  const testing::Scratch scratch;
  const std::string place = fs::canonical(scratch.path()).string();
  fs::create_directories(place + "/training/.git");
  fs::create_directories(place + "/training/tests");
  fs::create_directories(place + "/made");
  CHECK(project_of(place + "/made/ring.so", place + "/training/tests") == place + "/training");
  CHECK(project_of(place + "/made/ring.so", place) == place + "/made");
  CHECK(project_of(place + "/gone/ring.so", place) == place + "/gone");
}

TEST_CASE("worktrees of a repository are one project, a submodule is another") {
  const testing::Scratch scratch;
  const std::string place = fs::canonical(scratch.path()).string();
  fs::create_directories(place + "/main/.git/worktrees/fix");
  fs::create_directories(place + "/fix/build");
  testing::write_file(place + "/fix/.git", "gitdir: " + place + "/main/.git/worktrees/fix\n");
  CHECK(project_of(place + "/fix/build/ring.so", "/") == place + "/main");
  fs::create_directories(place + "/near");
  testing::write_file(place + "/near/.git", "gitdir: ../main/.git/worktrees/near\n");
  CHECK(project_of(place + "/near/ring.so", "/") == place + "/main");
  fs::create_directories(place + "/fix/part");
  testing::write_file(place + "/fix/part/.git", "gitdir: " + place + "/main/.git/worktrees/fix/modules/part\n");
  CHECK(project_of(place + "/fix/part/ring.so", "/") == place + "/fix/part");
  fs::create_directories(place + "/main/part");
  testing::write_file(place + "/main/part/.git", "gitdir: ../.git/modules/part\n");
  CHECK(project_of(place + "/main/part/ring.so", "/") == place + "/main/part");
}
