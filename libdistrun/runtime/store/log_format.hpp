#pragma once
// The bytes of a store's log (store_log.hpp).
//
//   "dstore02", two marks, then records: u32 size, u32 crc-32 of the bytes, the bytes of a Request
//
// The mark with the larger generation says where the log begins, and where the snapshot that it begins with ends. Marks
// are written in turn, so one that is torn leaves the other.
//
// In the place of a size, kSnapshotBegins stands before a snapshot. Records behind it are not a part of the log before
// it: a log that a mark lets begin behind it has them, and any other log ends there.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/runtime/store/key_table.hpp>

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
  std::uint64_t base = kLogHeaderSize;  // the end of the snapshot
};

// Where the mark stands in the file.
std::size_t place_of(const LogMark& mark) noexcept;
std::string encode(const LogMark& mark);
// Returns the header of a new log.
std::string encode_header(const LogMark& mark);
// Returns the mark that counts, in the bytes of a header. Nothing: neither of both is whole.
std::optional<LogMark> mark_in(std::string_view header);

std::string encode_record(const Request& request);
// Returns what stands before a snapshot.
std::string encode_snapshot_head();

// The record at a place of a log.
struct RecordAt {
  enum class Kind {
    Record,
    Part,      // of a record that has `size` bytes, or as many at least
    Snapshot,  // one begins here
    Damaged,
  };
  Kind kind = Kind::Part;
  std::size_t size = kRecordHeadSize;  // with its head
  std::string_view body{};
};
RecordAt record_at(std::string_view bytes) noexcept;

}  // namespace distrun::stores
