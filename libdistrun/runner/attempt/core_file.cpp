#include <distrun/runner/attempt/core_file.hpp>

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include <distrun/common/base/text.hpp>

namespace distrun::runner {
namespace fs = std::filesystem;
namespace {

constexpr char kSettings[] = "/proc/sys/kernel/core_";
constexpr int kNamesMax = 100'000;  // of a directory
constexpr std::size_t kTextMax = 300;
constexpr std::chrono::milliseconds kTick{20};  // a file's time is that of the kernel's last tick

std::string line_of(const std::string& name) {
  std::string line;
  std::ifstream file(kSettings + name);
  std::getline(file, line);
  return line;
}

// Returns the pattern of the file's name, with the pid filled in and `*` for what is only known to the kernel.
std::string name_pattern(const CorePattern& pattern, int pid) {
  std::string name;
  bool has_pid = false;
  for (std::size_t i = 0; i < pattern.text.size(); ++i) {
    const char c = pattern.text[i];
    if (c != '%') {
      name += std::string_view("*?\\").find(c) != std::string_view::npos ? std::string("\\") + c : std::string(1, c);
      continue;
    }
    const char what = ++i < pattern.text.size() ? pattern.text[i] : '\0';
    const bool is_pid = what == 'p';
    has_pid = has_pid || is_pid;
    if (what != '\0') name += is_pid ? std::to_string(pid) : what == '%' ? "%" : "*";
  }
  return has_pid || !pattern.adds_pid ? name : name + "." + std::to_string(pid);
}

// Returns the newest file that matches and is not older than `age`; empty: there is none.
std::string find_file(const fs::path& directory, const std::string& pattern, Nanoseconds age) {
  const auto oldest = fs::file_time_type::clock::now() - age - kTick;
  fs::path found;
  fs::file_time_type newest = fs::file_time_type::min();  // its epoch lies ahead of now
  std::error_code error;
  int seen = 0;
  for (fs::directory_iterator each(directory, error), end; !error && each != end; each.increment(error)) {
    if (++seen > kNamesMax) break;
    if (!base::glob_match(pattern, each->path().filename().string())) continue;
    std::error_code unreadable;
    const fs::file_time_type written = each->last_write_time(unreadable);
    if (unreadable || !each->is_regular_file(unreadable) || written < oldest || written < newest) continue;
    newest = written;
    found = each->path();
  }
  return found.string();
}

}  // namespace

CorePattern core_pattern_of_machine() { return {line_of("pattern"), line_of("uses_pid") == "1"}; }

bool may_have_core(const RankRecord& rank) {
  constexpr int kSignals[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};
  return rank.outcome.kind == OutcomeKind::Signaled &&
         std::find(std::begin(kSignals), std::end(kSignals), rank.signal) != std::end(kSignals);
}

std::string describe_core(const CorePattern& pattern, const std::string& directory, int pid, Nanoseconds age) {
  const std::string shown = base::one_line(pattern.text, kTextMax);
  if (pattern.text.empty()) return "none: /proc/sys/kernel/core_pattern is empty";
  if (pattern.text.front() == '|') {
    const bool is_systemd = pattern.text.find("systemd-coredump") != std::string::npos;
    return is_systemd ? "coredumpctl debug " + std::to_string(pid)
                      : "given to another program, as /proc/sys/kernel/core_pattern says: " + shown;
  }
  const fs::path path = fs::path(directory) / name_pattern(pattern, pid);
  const std::string found = find_file(path.parent_path(), path.filename().string(), age);
  return found.empty() ? "none in " + path.parent_path().string() + " (core_pattern: " + shown + ")" : found;
}

}  // namespace distrun::runner
