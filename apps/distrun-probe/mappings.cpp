#include "mappings.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include <distrun/runner/evidence/proc/mapping_line.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::probe {
namespace {

constexpr std::size_t kTextMax = std::size_t{64} << 20;

}  // namespace

Mappings Mappings::of(pid_t tid) {
  return parse(evidence::read_proc_file(evidence::proc_path(tid, "maps"), kTextMax).text);
}

Mappings Mappings::parse(std::string_view text) {
  Mappings result;
  evidence::for_each_line(text, [&result](std::string_view line) { result.add_line(line); });
  return result;
}

void Mappings::add_line(std::string_view line) {
  const auto parsed = evidence::parse_mapping(line);
  if (!parsed) return;
  const bool is_code = parsed->rights[2] == 'x';
  mappings_.push_back({parsed->begin, parsed->end, is_code, line.ends_with("[vdso]")});
  if (is_code) code_signature_.append(line).append("\n");
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
