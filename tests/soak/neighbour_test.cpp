// Tests the neighbour itself: one that does nothing would disturb no test, and that would go unnoticed.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "support/neighbour.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace {

using namespace distrun::testing;

// Returns the number of System V segments that the process has created; nullopt: the kernel does not tell.
std::optional<long> segments_of(pid_t pid) {
  const std::string path = "/proc/sysvipc/shm";
  if (!exists(path)) return std::nullopt;
  std::istringstream lines(read_file(path));
  const std::string maker = " " + std::to_string(pid) + " ";
  long count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(maker) != std::string::npos ? 1 : 0;
  return count;
}

long in_shared_memory(pid_t pid) {
  const std::vector<std::string> names = names_in("/dev/shm");
  const std::string part = "neighbour-" + std::to_string(pid) + "-";
  return std::count_if(names.begin(), names.end(),
                       [&](const std::string& name) { return name.find(part) != std::string::npos; });
}

std::set<std::filesystem::file_type> kinds_in(const std::string& directory) {
  std::set<std::filesystem::file_type> kinds;
  std::error_code gone;
  for (const std::string& name : names_in(directory)) {
    kinds.insert(std::filesystem::symlink_status(directory + "/" + name, gone).type());
  }
  return kinds;
}

// Returns the CPU seconds of a process and of its children that have ended.
double cpu_of(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double ticks = 0;
  for (double part = 0, n = 0; n < 4 && fields >> part; ++n) ticks += part;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

TEST_CASE("the neighbour creates objects of every kind, with little CPU, and leaves nothing", "[soak]") {
  using std::filesystem::file_type;
  const Scratch place;
  const auto started = std::chrono::steady_clock::now();
  Neighbour neighbour(DISTRUN_NEIGHBOUR, {place.path()});
  const pid_t pid = neighbour.pid();
  std::set<file_type> kinds;
  const auto has_all = [&] {
    kinds.merge(kinds_in(place.path()));
    const bool names = kinds.count(file_type::regular) && kinds.count(file_type::directory) &&
                       kinds.count(file_type::socket) && in_shared_memory(pid) > 1;
    return names && segments_of(pid) != 0 && !children_of(pid).empty();
  };
  CHECK(eventually(scaled(milliseconds(20'000)), has_all));
  const std::chrono::duration<double> lived = std::chrono::steady_clock::now() - started;
  CHECK(cpu_of(pid) < 0.1 + 0.2 * lived.count());
  const Ended ended = neighbour.stop();
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.find("the neighbour has made ") == 0);
  CHECK(names_in(place.path()).empty());
  CHECK(in_shared_memory(pid) == 0);
  CHECK(segments_of(pid).value_or(0) == 0);
}
