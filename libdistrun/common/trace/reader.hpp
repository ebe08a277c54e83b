#pragma once
// Reads the areas of the ranks from outside. Never blocks, and trusts nothing: skips invalid records and those that
// were being written when the writer died.
#include <map>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/trace/memory.hpp>

namespace distrun::trace {

struct Slice {
  Kind kind = Kind::Span;
  int detail = 0;
  Peers rule = Peers::None;
  bool has_more_peers = false;
  std::uint64_t peers = 0;
  std::uint64_t id = 0;
  std::string name;   // raw bytes; escape them, and the place, before showing them
  std::string place;  // call site, may be the end of a path; for stream work, the stream
  std::uint32_t line = 0;
  int tid = 0;
  std::int64_t begin_ns = 0;  // of the monotonic clock
  std::int64_t end_ns = 0;    // 0: had not ended
};

// Returns whether a rank could have recorded this.
bool is_sound(const Slice& slice) noexcept;

struct ShownArea {
  std::vector<Slice> slices;           // unordered
  std::map<int, std::string> threads;  // their names
  std::uint64_t not_kept = 0;          // records that newer ones have replaced
};

// A rank's trace, as far as there is one.
struct RankTrace {
  ShownArea area;
  std::string why_missing;          // empty: it is there
  bool is_failure = false;          // it is missing since distrun could not provide for it
  base::Nanoseconds clock_error{};  // its times are at most so wrong, in either direction
};

// Reads `count` cells of the rank's area from `first` on, as far as they have been written.
ShownArea read(const Memory& memory, int rank, std::uint64_t first = 0, std::uint64_t count = kRecordsMax);
// Returns how many cells of the rank's area have been written.
std::uint64_t written(const Memory& memory, int rank);

}  // namespace distrun::trace
