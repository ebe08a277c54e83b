#include <distrun/runner/evidence/proc/file_locks.hpp>

#include <optional>

#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kLocksMax = std::size_t{4} << 20;

struct Line {
  bool waits = false;
  std::string_view number;  // shared by a lock and the requests that wait for it
  std::string_view kind;
  std::string_view file;
  pid_t pid = 0;
};

// "1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF"; a waiting request has "->" after the number.
std::optional<Line> parse_line(std::string_view text) {
  Words words(text);
  Line line;
  line.number = words.next();
  line.kind = words.next();
  line.waits = line.kind == "->";
  if (line.waits) line.kind = words.next();
  words.skip(2);
  const auto pid = number_in<pid_t>(words.next());
  line.file = words.next();
  if (!pid || line.file.empty()) return std::nullopt;
  line.pid = *pid;
  return line;
}

}  // namespace

std::vector<LockWait> parse_locks(std::string_view text) {
  std::vector<LockWait> waits;
  Line held;
  for_each_line(text, [&](std::string_view line_text) {
    const auto line = parse_line(line_text);
    if (line && !line->waits) held = *line;
    if (!line || !line->waits || line->number != held.number) return;
    waits.push_back({line->pid, held.pid, std::string(line->file), std::string(line->kind)});
  });
  return waits;
}

std::vector<LockWait> read_lock_waits() { return parse_locks(read_proc_file("/proc/locks", kLocksMax).text); }

}  // namespace distrun::evidence
