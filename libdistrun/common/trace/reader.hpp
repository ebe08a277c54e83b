#pragma once
// What ranks have written into their areas, from outside. Never blocks, and takes nothing on trust: what was being
// written when its writer died, and what makes no sense, is left out.
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
  std::string name;   // bytes, to be escaped by whoever shows them; so is the place
  std::string place;  // call site, may be the end of a path; of stream work the stream
  std::uint32_t line = 0;
  int tid = 0;
  std::int64_t begin_ns = 0;  // of the monotonic clock
  std::int64_t end_ns = 0;    // 0: it had not ended
};

struct ShownArea {
  std::vector<Slice> slices;           // in no order
  std::map<int, std::string> threads;  // their names
  std::uint64_t not_kept = 0;          // records whose place newer ones have taken
};

ShownArea read(const Memory& memory, int rank);

}  // namespace distrun::trace
