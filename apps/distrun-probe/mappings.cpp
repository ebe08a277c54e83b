#include "mappings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include <distrun/common/base/fd.hpp>

namespace distrun::probe {
namespace {

constexpr std::size_t kTextMax = std::size_t{64} << 20;

bool take_address(std::string_view& text, std::uint64_t& value) {
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || next == text.data() + text.size()) return false;
  text.remove_prefix(static_cast<std::size_t>(next - text.data()) + 1);  // including the '-' or ' ' after it
  return true;
}

}  // namespace

Mappings Mappings::of(pid_t tid) {
  const base::Fd file(::open(("/proc/" + std::to_string(tid) + "/maps").c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[16 << 10];
  while (file && text.size() < kTextMax) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return parse(text);
}

Mappings Mappings::parse(std::string_view text) {
  Mappings result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result.add_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

// Parses "7f12a000-7f12b000 r-xp 00000000 fe:01 1234   /usr/lib/x.so".
void Mappings::add_line(std::string_view line) {
  Mapping mapping;
  std::string_view rest = line;
  if (!take_address(rest, mapping.begin) || !take_address(rest, mapping.end) || rest.size() < 4) return;
  mapping.executable = rest[2] == 'x';
  mapping.vdso = line.ends_with("[vdso]");
  mappings_.push_back(mapping);
  if (mapping.executable) code_signature_.append(line).append("\n");
}

std::uint64_t Mappings::largest_code_file() const {
  std::uint64_t largest = 0;
  std::istringstream lines(code_signature_);
  for (std::string line; std::getline(lines, line);) {
    struct stat file {};
    const std::size_t path = line.find('/');
    if (path == std::string::npos || ::stat(line.c_str() + path, &file) != 0 || !S_ISREG(file.st_mode)) continue;
    largest = std::max(largest, static_cast<std::uint64_t>(file.st_size));
  }
  return largest;
}

const Mapping* Mappings::find(std::uint64_t address) const noexcept {
  const auto next = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                     [](std::uint64_t value, const Mapping& mapping) { return value < mapping.end; });
  return next != mappings_.end() && next->begin <= address ? &*next : nullptr;
}

bool Mappings::is_code(std::uint64_t address) const noexcept {
  const Mapping* mapping = find(address);
  return mapping != nullptr && mapping->executable;
}

}  // namespace distrun::probe
