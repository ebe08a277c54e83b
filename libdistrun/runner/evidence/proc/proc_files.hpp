#pragma once
// Reading /proc of processes that are not ours: everything is bounded, nothing throws, and what could not be read
// says why. A process may end, or become another program, between any two of these calls.
#include <sys/types.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

struct ProcFile {
  std::string text;
  int error = 0;     // an errno, if it could not be opened or read at all
  bool cut = false;  // there was more than the limit
};
// `path` is relative to `directory`, a descriptor, unless that is AT_FDCWD.
ProcFile read_proc_file(int directory, const char* path, std::size_t limit = std::size_t{64} << 10);
ProcFile read_proc_file(const std::string& path, std::size_t limit = std::size_t{64} << 10);

struct ProcNumbers {
  std::vector<int> numbers;  // ascending
  int error = 0;
  bool cut = false;
};
// The entries of a directory whose names are numbers: processes, threads, descriptors.
ProcNumbers numbers_in(const std::string& directory, std::size_t limit);

// "/proc/4711/" + rest.
std::string proc_path(pid_t pid, std::string_view rest);
// The name of a process or thread as its owner set it, safe to show; "?" if it has gone.
std::string name_in(const std::string& directory);
// "Permission denied (EACCES)", or that there is no such process: what keeps us from looking into it.
std::string why_hidden(int error);

// The words of a line, one after the other; empty when there are no more. Words are parted by spaces and tabs.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next();
  void skip(int count);

 private:
  std::string_view rest_;
};

// The whole of `text` as a number; "0x" before a hexadecimal one is allowed.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

// Calls `use(line)` for each line, without its newline.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    use(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace distrun::evidence
