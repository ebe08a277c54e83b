#pragma once
// The messages by which a coordinator fetches traces (trace_fetch.hpp).
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/trace/reader.hpp>
#include <distrun/common/wire/codec.hpp>

namespace distrun::trace {

DISTRUN_FIELDS(Slice, m.kind, m.detail, m.rule, m.has_more_peers, m.peers, m.id, m.name, m.place, m.line, m.tid,
               m.begin_ns, m.end_ns)

}  // namespace distrun::trace

namespace distrun::nodes {

inline constexpr std::uint32_t kTracePartMax = 1024;  // records

// Asks for what a rank has recorded: `count` cells of its memory from `first` on.
struct TraceRequest {
  std::uint32_t world = 0;
  std::uint32_t fetch = 0;  // its number among those of the world (trace_fetch.hpp)
  std::int32_t rank = 0;
  std::uint64_t first = 0;
  std::uint32_t count = 0;
};
DISTRUN_FIELDS(TraceRequest, m.world, m.fetch, m.rank, m.first, m.count)

struct NamedThread {
  std::int32_t tid = 0;
  std::string name;
};
DISTRUN_FIELDS(NamedThread, m.tid, m.name)

// The answer to a TraceRequest.
struct TracePart {
  std::uint32_t world = 0;
  std::uint32_t fetch = 0;
  std::int32_t rank = 0;
  std::uint64_t first = 0;
  std::uint64_t written = 0;  // cells of the rank
  std::uint64_t not_kept = 0;
  std::vector<trace::Slice> slices;
  std::vector<NamedThread> threads;
  std::string why_missing;       // why the rank has no trace; empty: it has
  std::int64_t received_ns = 0;  // the request
  std::int64_t sent_ns = 0;
};
DISTRUN_FIELDS(TracePart, m.world, m.fetch, m.rank, m.first, m.written, m.not_kept, m.slices, m.threads, m.why_missing,
               m.received_ns, m.sent_ns)
// Throws Error{InvalidArgument} if this is no answer to a request for `count` cells of a rank that has `records` of
// them.
void check(const TracePart& part, std::uint32_t count, std::uint64_t records);

}  // namespace distrun::nodes
