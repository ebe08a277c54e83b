// Directories and files that the ranks of a test share.
#include <distrun/test.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/hosts.hpp"

namespace {

std::string file_of(const distrun::Rank& rank) {
  const std::string url(rank.init_method());
  const std::string scheme = "file://";
  return url.starts_with(scheme) ? url.substr(scheme.size()) : "";
}

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

int number_in(const std::string& path) {
  int number = 0;
  std::ifstream(path) >> number;
  return number;
}

// Loses a count if two ranks run it at the same time.
void add_one(const std::string& path) {
  const int before = number_in(path);
  std::ofstream(path) << before + 1;
}

}  // namespace

DISTRUN_TEST(Files, a_new_directory_is_everybodys) {
  rank.note("rows", "[row:tempdir/initialize_temp_directories-init_method-None]");
  distrun::suites::needs_one_host(rank);
  const std::string directory(rank.temp_dir());
  DISTRUN_EXPECT(directory == std::getenv("TEMP_DIR"));
  rank.barrier("nothing is written yet");
  DISTRUN_EXPECT(!is_there(directory + "/of rank 0"));  // a file of an earlier test would be
  rank.barrier("all have looked");
  std::ofstream(directory + "/of rank " + std::to_string(rank.rank())) << "x";
  rank.barrier("written");
  for (int other = 0; other < rank.world_size(); ++other) {
    DISTRUN_EXPECT(is_there(directory + "/of rank " + std::to_string(other)));
  }
}

DISTRUN_TEST(Files, the_rendezvous_file_is_named_and_not_made) {
  rank.note("rows", "[row:tempdir/file_name-per-test] [row:helpers/FILE_SCHEMA-find_free_port-flags]");
  distrun::suites::needs_one_host(rank);
  const std::string path = file_of(rank);
  DISTRUN_REQUIRE(path.starts_with("/"));
  DISTRUN_EXPECT(path.starts_with(std::string(rank.temp_dir()) + "/"));
  DISTRUN_EXPECT(!is_there(path));
  rank.send(0, "path", path);
  if (!rank.is_master()) return;
  for (int other = 0; other < rank.world_size(); ++other) DISTRUN_EXPECT(rank.receive(other, "path") == path);
}

DISTRUN_TEST(Files, a_file_of_rank_0_is_known_to_all) {
  rank.note("rows", "[row:tempdir/_rank_temp_file]");
  distrun::suites::needs_one_host(rank);
  const std::string path = distrun::make_shared_file(rank);
  const std::string another = distrun::make_shared_file(rank);
  DISTRUN_EXPECT(path != another);
  struct stat status {};
  DISTRUN_REQUIRE(stat(path.c_str(), &status) == 0);
  DISTRUN_EXPECT(status.st_size == 0);
  rank.barrier("all have looked");
  if (rank.is_master()) std::ofstream(path) << "from rank 0";
  rank.barrier("written");
  std::string text;
  std::getline(std::ifstream(path), text);
  DISTRUN_EXPECT(text == "from rank 0");
}

DISTRUN_TEST(Files, a_lock_has_one_holder) {
  rank.note("rows", "[row:lock/_lock]");
  distrun::suites::needs_one_host(rank);
  constexpr int kRounds = 50;
  const std::string counter = std::string(rank.temp_dir()) + "/counter";
  const std::string lockfile = std::string(rank.temp_dir()) + "/lockfile";
  for (int round = 0; round < kRounds; ++round) {
    const distrun::FileLock lock(lockfile);
    add_one(counter);
  }
  rank.barrier("all have counted");
  DISTRUN_EXPECT(number_in(counter) == kRounds * rank.world_size());
  DISTRUN_EXPECT_THROWS(distrun::Error, "/no/such", distrun::FileLock("/no/such/directory/lockfile"));
}
