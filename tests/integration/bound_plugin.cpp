// Ranks that write down which CPUs they may run on.
#include <distrun/test.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace {

// "0-3,8"
std::string cpus_of_this_thread() {
  std::ifstream status("/proc/thread-self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Cpus_allowed_list:")) return line.substr(line.find('\t') + 1);
  }
  return "unknown";
}

void write_cpus(const std::string& name) {
  std::ofstream(std::string(std::getenv("BOUND_DIR")) + "/" + name) << cpus_of_this_thread() << "\n";
}

}  // namespace

DISTRUN_TEST(Bound, writes, .world_size = distrun::fixed(2)) {
  std::string of_thread;
  std::thread([&] { of_thread = cpus_of_this_thread(); }).join();
  DISTRUN_EXPECT(of_thread == cpus_of_this_thread());
  // Ranks that have CPUs of their own may poll for each other.
  const char* together = std::getenv("DISTRUN_CPUS");
  DISTRUN_EXPECT((together == nullptr || std::atoi(together) >= 2));
  write_cpus(std::to_string(rank.rank()));
}

// Runs in the ranks of the first one, if ranks persist: they are bound as before.
DISTRUN_TEST(Bound, writes_again, .world_size = distrun::fixed(2)) {
  write_cpus("again" + std::to_string(rank.rank()));
}

DISTRUN_TEST(Bound, fails) { DISTRUN_EXPECT(rank.rank() < 0); }

DISTRUN_TEST(BoundHosts, write) { write_cpus("host" + std::to_string(rank.rank())); }
