#pragma once
// The memory of a trace: a sealed memfd, in which each rank of an attempt writes down what it does, a record for each
// slice of time. It is there whatever becomes of the rank. Nobody blocks: a thread takes the next number and has the
// cell of that number in a ring; when the ring is full, what is new takes the place of what is old.
//
//   file   head, a page | area of rank 0 | area of rank 1 | ...
//   area   head, a page | ring of cells
//   cell   state | the words of a record
//
// A page is there once something is written in it, so a rank that does nothing costs nothing. All that a rank has
// written is data of somebody else: whoever reads it copies first and looks at its bounds afterwards.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace distrun::trace {

inline constexpr std::uint64_t kMagic = 0x31'65'63'61'72'74'72'64;  // "drtrace1"
inline constexpr std::size_t kTextSize = 72;                        // a name and a place, together
inline constexpr std::size_t kPlaceSize = 28;                       // that are kept of a place if the name is long
inline constexpr std::uint64_t kRecordsMin = 256;                   // of a rank
inline constexpr std::uint64_t kRecordsMax = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kRecordsDefault = std::uint64_t{1} << 16;

// The rank's variable with the path of the memory; not set: nothing is traced.
inline constexpr char kVariable[] = "DISTRUN_TRACE_AREA";

enum class Kind : std::uint8_t {
  Span,        // of the profiler
  Operator,    // on tensors
  Wait,        // of the board; `detail` is its kind there
  Handler,     // a thread runs what another rank has called, with the call's id
  Call,        // of another rank, from where it is made: to the answer, or to where it is sent
  Reply,       // the answer to a call is taken in
  Collective,  // a rank's part in one
  StreamWork,  // on a device; its place is the stream
  ThreadName,  // no slice: the thread is called so
};
inline constexpr int kKindCount = 9;

// Which ranks `peers` names.
enum class Peers : std::uint8_t {
  None,
  One,  // the rank of that number
  All,  // one bit for each of them: they are all needed
  Any,  // the same: one of them is enough
};
inline constexpr int kPeersCount = 4;
inline constexpr int kPeerBits = 64;  // ranks beyond are "others"

// Times are of the monotonic clock.
struct Record {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  // 0: it goes on
  std::uint64_t id = 0;     // a message, a call: whatever the kind counts
  std::uint64_t peers = 0;
  std::int32_t tid = 0;
  std::uint32_t line = 0;  // of the place, if that is one in a source
  Kind kind = Kind::Span;
  std::uint8_t detail = 0;
  Peers rule = Peers::None;
  std::uint8_t has_more_peers = 0;
  std::uint8_t name_size = 0;
  std::uint8_t place_size = 0;
  std::uint8_t unused[2] = {};
  char text[kTextSize];  // the name, and the place: the end of a path
};
static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) == 120);

// What a cell's state says of the record with a number, counted from 0. A state of 0: nothing was ever written there.
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
  std::uint64_t records;  // of each rank, a power of 2
  std::int32_t world_size;
};

struct AreaHead {
  std::atomic<std::uint64_t> taken;  // numbers that were given out
};

constexpr std::size_t area_size(std::uint64_t records) noexcept { return kPage + records * sizeof(Cell); }
constexpr std::size_t area_offset(int rank, std::uint64_t records) noexcept {
  return kPage + static_cast<std::size_t>(rank) * area_size(records);
}

}  // namespace distrun::trace
