#pragma once
// Reads /proc of foreign processes. Every read is bounded, nothing throws, and a failed read says why. A process may
// end, or exec another program, between any two of these calls.
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
  int error = 0;     // the errno, if the file could not be opened or read
  bool cut = false;  // the file is longer than the limit
};
// `path` is relative to the descriptor `directory`, unless that is AT_FDCWD.
ProcFile read_proc_file(int directory, const char* path, std::size_t limit = std::size_t{64} << 10);
ProcFile read_proc_file(const std::string& path, std::size_t limit = std::size_t{64} << 10);
// Does the same in one read, if that suffices: for files that the kernel writes in one piece, such as `stat`.
ProcFile read_short_file(int directory, const char* path);

struct ProcNumbers {
  std::vector<int> numbers;  // ascending
  int error = 0;
  bool cut = false;
};
// Returns a directory's entries with numeric names: processes, threads, descriptors.
ProcNumbers numbers_in(const std::string& directory, std::size_t limit);

// Returns "/proc/4711/" + rest.
std::string proc_path(pid_t pid, std::string_view rest);
// Returns the name that a process or thread has set for itself, safe to show; "?" if it has ended.
std::string name_in(const std::string& directory);
// Says why a process cannot be inspected: "Permission denied (EACCES)", or that it does not exist.
std::string why_hidden(int error);

// Yields the words of a line, separated by spaces and tabs; empty when there are no more.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next();
  void skip(int count);

 private:
  std::string_view rest_;
};

// Parses the whole of `text` as a number; a hexadecimal one may begin with "0x".
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
