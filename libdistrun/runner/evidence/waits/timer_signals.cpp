#include <distrun/runner/evidence/waits/timer_signals.hpp>

#include <fcntl.h>
#include <signal.h>

#include <cstdint>
#include <string>

#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kFileMax = 16 << 10;

std::string read_of(pid_t pid, const char* name) {
  return read_proc_file(AT_FDCWD, proc_path(pid, name).c_str(), kFileMax).text;
}

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }
constexpr std::uint64_t kOfTimers = bit_of(SIGALRM) | bit_of(SIGVTALRM) | bit_of(SIGPROF);

bool catches_timer_signals(const std::string& status) {
  constexpr std::string_view kName = "\nSigCgt:";
  const std::size_t at = status.find(kName);
  if (at == std::string::npos) return true;
  Words words(std::string_view(status).substr(at + kName.size()));
  const auto mask = number_in<std::uint64_t>(words.next().substr(0, 16), 16);
  return !mask || (*mask & kOfTimers) != 0;
}

}  // namespace

bool may_be_interrupted_by_timer(pid_t pid) {
  return catches_timer_signals(read_of(pid, "status")) || !read_of(pid, "timers").empty();
}

}  // namespace distrun::evidence
