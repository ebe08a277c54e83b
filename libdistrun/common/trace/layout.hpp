#pragma once
// The memory of a trace: a sealed memfd in which each rank of an attempt records its actions, one record per slice of
// time. It survives the rank. Writing does not block: a thread takes the next number and with it a cell of a ring; when
// the ring is full, new records replace the oldest.
//
//   file   head, a page | area of rank 0 | area of rank 1 | ...
//   area   head, a page | ring of cells
//   cell   state | the words of a record
//
// Pages are allocated when they are written, so an idle rank costs nothing. The contents are untrusted: readers copy
// first and check bounds afterwards.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace distrun::trace {

inline constexpr std::uint64_t kMagic = 0x31'65'63'61'72'74'72'64;  // "drtrace1"
inline constexpr std::size_t kTextSize = 72;                        // a name and a place, together
inline constexpr std::size_t kPlaceSize = 28;                       // kept of a place if the name is long
inline constexpr std::uint64_t kRecordsMin = 256;                   // per rank
inline constexpr std::uint64_t kRecordsMax = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kRecordsDefault = std::uint64_t{1} << 16;

// The rank's environment variable with the path of the memory; if unset, nothing is traced.
inline constexpr char kVariable[] = "DISTRUN_TRACE_AREA";

enum class Kind : std::uint8_t {
  Span,        // of the profiler
  Operator,    // on tensors
  Wait,        // of the board; `detail` is its board kind
  Handler,     // a thread runs a call of another rank; has the call's id
  Call,        // to another rank, from its start to the answer, or to its sending
  Reply,       // the answer to a call is processed
  Collective,  // one rank's part
  StreamWork,  // on a device; its place is the stream
  ThreadName,  // no slice: the name of the thread
};
inline constexpr int kKindCount = 9;

// How to read the field `peers`.
enum class Peers : std::uint8_t {
  None,
  One,  // the number of one rank
  All,  // one bit per rank: all are needed
  Any,  // one bit per rank: one is enough
};
inline constexpr int kPeersCount = 4;
inline constexpr int kPeerBits = 64;  // ranks beyond are "others"

// Times are of the monotonic clock.
struct Record {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  // 0: still open
  std::uint64_t id = 0;     // of a message or a call, depending on the kind
  std::uint64_t peers = 0;
  std::int32_t tid = 0;
  std::uint32_t line = 0;  // of the place, if it is in a source file
  Kind kind = Kind::Span;
  std::uint8_t detail = 0;
  Peers rule = Peers::None;
  std::uint8_t has_more_peers = 0;
  std::uint8_t name_size = 0;
  std::uint8_t place_size = 0;
  std::uint8_t unused[2] = {};
  char text[kTextSize];  // the name, then the place (the end of a path)
};
static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) == 120);

// The state of a cell holds the number of its record, counted from 0, and its stage. 0: never written.
enum class Stage : std::uint8_t { Writing = 1, Open = 2, Whole = 3 };
constexpr std::uint64_t state_of(std::uint64_t number, Stage stage) noexcept {
  return number << 2 | static_cast<std::uint64_t>(stage);
}
constexpr Stage stage_of(std::uint64_t state) noexcept { return static_cast<Stage>(state & 3); }

struct Cell {
  static constexpr std::size_t kWords = sizeof(Record) / sizeof(std::uint64_t);
  static constexpr std::size_t kEndWord = offsetof(Record, end_ns) / sizeof(std::uint64_t);

  std::atomic<std::uint64_t> state;
  std::array<std::atomic<std::uint64_t>, kWords> words;
};
static_assert(sizeof(Cell) == 128);

inline constexpr std::size_t kPage = 4096;

struct FileHead {
  std::uint64_t magic;
  std::uint64_t records;  // per rank, a power of 2
  std::int32_t world_size;
};

struct AreaHead {
  std::atomic<std::uint64_t> taken;  // record numbers handed out
};

constexpr std::size_t area_size(std::uint64_t records) noexcept { return kPage + records * sizeof(Cell); }
constexpr std::size_t area_offset(int rank, std::uint64_t records) noexcept {
  return kPage + static_cast<std::size_t>(rank) * area_size(records);
}

}  // namespace distrun::trace
