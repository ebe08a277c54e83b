#pragma once
// The bytes of a store's log (store_log.hpp).
//
//   "dstore02", two marks, then records: u32 size, u32 crc-32 of the bytes, the bytes of a Request
//
// The mark with the larger generation says where the log begins, and where its initial snapshot ends. Marks are written
// in turn, so a torn mark leaves the other one intact.
//
// kSnapshotBegins stands before a snapshot, where a record would have its size. The records after it are not part of
// the preceding log, which ends there; they belong to the log that begins behind it, once a mark says so.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/common/store_server/key_table.hpp>

namespace distrun::stores {

inline constexpr std::string_view kLogMagic = "dstore02";
inline constexpr std::string_view kLogMagicOfAll = "dstore";  // of all versions
inline constexpr std::size_t kMarkSize = 32;
inline constexpr std::size_t kLogHeaderSize = kLogMagic.size() + 2 * kMarkSize;
inline constexpr std::size_t kRecordHeadSize = 2 * sizeof(std::uint32_t);
inline constexpr std::size_t kRecordSize = 2 * kTableSize;  // no request is larger
inline constexpr std::uint32_t kSnapshotBegins = 0xFFFFFFFFU;

struct LogMark {
  std::uint64_t generation = 1;
  std::uint64_t begin = kLogHeaderSize;
  std::uint64_t base = kLogHeaderSize;  // end of the snapshot
};

// Returns the mark's offset in the file.
std::size_t place_of(const LogMark& mark) noexcept;
std::string encode(const LogMark& mark);
// Returns the header of a new log.
std::string encode_header(const LogMark& mark);
// Returns the valid mark with the larger generation from the bytes of a header. Nothing: neither is intact.
std::optional<LogMark> mark_in(std::string_view header);

std::string encode_record(const Request& request);
// Returns the bytes that precede a snapshot.
std::string encode_snapshot_head();

// The contents of a log at a position.
struct RecordAt {
  enum class Kind {
    Record,
    Part,      // a part of a record that has at least `size` bytes
    Snapshot,  // a snapshot begins here
    Damaged,
  };
  Kind kind = Kind::Part;
  std::size_t size = kRecordHeadSize;  // including its head
  std::string_view body{};
};
RecordAt record_at(std::string_view bytes) noexcept;

}  // namespace distrun::stores
