#include <distrun/runner/proc/usage.hpp>

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace distrun::proc {
namespace {

constexpr int kFieldsBeforeCpu = 11;  // of stat, from the state to cmajflt
constexpr int kFieldsToMemory = 8;    // from after stime to vsize

}  // namespace

Usage usage_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  Usage usage;
  const std::size_t name_end = line.rfind(')');  // a name may contain any character, ')' too
  if (name_end == std::string::npos) return usage;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBeforeCpu; ++i) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  std::uint64_t pages = 0;
  fields >> user >> system;
  for (int i = 0; i < kFieldsToMemory; ++i) fields >> skipped;
  fields >> pages;
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  usage.cpu = base::Nanoseconds((user + system) * (1'000'000'000 / ticks));
  usage.memory_bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return usage;
}

}  // namespace distrun::proc
