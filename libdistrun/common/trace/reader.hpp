#pragma once
// Reads the areas of the ranks from outside. Never blocks, and trusts nothing: skips invalid records and those that
// were being written when the writer died.
#include <map>
#include <string>
#include <vector>

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

struct ShownArea {
  std::vector<Slice> slices;           // unordered
  std::map<int, std::string> threads;  // their names
  std::uint64_t not_kept = 0;          // records that newer ones have replaced
};

ShownArea read(const Memory& memory, int rank);

}  // namespace distrun::trace
