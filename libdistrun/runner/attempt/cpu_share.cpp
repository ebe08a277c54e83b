#include <distrun/runner/attempt/cpu_share.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <distrun/runner/record/machine.hpp>

namespace distrun::runner {
namespace {

// A container sees its own group here; outside of one the file does not exist.
std::string own_quota() {
  std::string line;
  std::getline(std::ifstream("/sys/fs/cgroup/cpu.max"), line);
  return line;
}

}  // namespace

int cpus_of_quota(const std::string& text, int otherwise) {
  std::istringstream words(text);
  double quota = 0, period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return otherwise;
  return std::clamp(static_cast<int>(std::min(quota / period, 1e6)), 1, std::max(otherwise, 1));
}

int cpus_for_ranks() { return std::max(1, cpus_of_quota(own_quota(), usable_cpus())); }

std::string threads_each(int cpus, int ranks) {
  const char* own = std::getenv("DISTRUN_THREADS");
  return own != nullptr ? own : std::to_string(std::max(1, cpus / std::max(1, ranks)));
}

}  // namespace distrun::runner
