#include <distrun/runner/evidence/proc/mapping_line.hpp>

#include <algorithm>
#include <cstdio>

#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::evidence {

std::optional<MappingLine> parse_mapping(std::string_view line) {
  Words words(line);
  const std::string_view range = words.next();
  const std::size_t dash = std::min(range.find('-'), range.size());
  const auto begin = number_in<std::uint64_t>(range.substr(0, dash), 16);
  const auto end = number_in<std::uint64_t>(range.substr(std::min(dash + 1, range.size())), 16);
  MappingLine mapping;
  mapping.rights = words.next();
  const auto offset = number_in<std::uint64_t>(words.next(), 16);
  if (!begin || !end || mapping.rights.size() != 4 || !offset) return std::nullopt;
  mapping.begin = *begin;
  mapping.end = *end;
  mapping.offset = *offset;
  mapping.device = words.next();
  mapping.inode = words.next();
  const std::size_t path = line.find('/');
  if (path != std::string_view::npos) mapping.path = line.substr(path);
  return mapping;
}

std::string mapped_file(pid_t tid, std::uint64_t begin, std::uint64_t end) {
  char range[48];
  std::snprintf(range, sizeof range, "map_files/%llx-%llx", static_cast<unsigned long long>(begin),
                static_cast<unsigned long long>(end));
  return proc_path(tid, range);
}

}  // namespace distrun::evidence
