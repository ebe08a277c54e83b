#include <distrun/common/trace/reader.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace distrun::trace {
namespace {

constexpr int kAttempts = 4;  // at a cell that changes meanwhile

// Returns nullopt if the cell is incomplete.
std::optional<Record> read_cell(const Cell& cell) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t before = cell.state.load(std::memory_order_acquire);
    const Stage stage = stage_of(before);
    if (stage != Stage::Open && stage != Stage::Whole) return std::nullopt;
    std::array<std::uint64_t, Cell::kWords> words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = cell.words[i].load(std::memory_order_acquire);
    if (cell.state.load(std::memory_order_relaxed) != before) continue;
    Record record;
    std::memcpy(static_cast<void*>(&record), words.data(), sizeof record);
    if (stage == Stage::Open) record.end_ns = 0;  // its end may be in flight
    return record;
  }
  return std::nullopt;
}

bool is_sound(const Record& record) {
  return static_cast<int>(record.kind) < kKindCount && static_cast<int>(record.rule) < kPeersCount &&
         std::size_t{record.name_size} + record.place_size <= kTextSize && record.begin_ns > 0 &&
         (record.end_ns == 0 || record.end_ns >= record.begin_ns) && record.tid > 0;
}

Slice slice_of(const Record& record) {
  Slice slice;
  slice.kind = record.kind;
  slice.detail = record.detail;
  slice.rule = record.rule;
  slice.has_more_peers = record.has_more_peers != 0;
  slice.peers = record.peers;
  slice.id = record.id;
  slice.name.assign(record.text, record.name_size);
  slice.place.assign(record.text + record.name_size, record.place_size);
  slice.line = record.line;
  slice.tid = record.tid;
  slice.begin_ns = record.begin_ns;
  slice.end_ns = record.end_ns;
  return slice;
}

}  // namespace

bool is_sound(const Slice& slice) noexcept {
  return static_cast<int>(slice.kind) < kKindCount && slice.kind != Kind::ThreadName && slice.detail >= 0 &&
         slice.detail <= 255 && static_cast<int>(slice.rule) < kPeersCount &&
         slice.name.size() + slice.place.size() <= kTextSize && slice.begin_ns > 0 &&
         (slice.end_ns == 0 || slice.end_ns >= slice.begin_ns) && slice.tid > 0;
}

std::uint64_t written(const Memory& memory, int rank) {
  return std::min(memory.head(rank).taken.load(std::memory_order_acquire), memory.records());
}

ShownArea read(const Memory& memory, int rank, std::uint64_t first, std::uint64_t count) {
  ShownArea area;
  const std::uint64_t taken = memory.head(rank).taken.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min(taken, memory.records());
  area.not_kept = taken - kept;
  const Cell* const cells = memory.cells(rank);
  const std::uint64_t end = first + std::min(count, kept - std::min(first, kept));
  for (std::uint64_t i = first; i < end; ++i) {
    const std::optional<Record> record = read_cell(cells[i]);
    if (!record || !is_sound(*record)) continue;
    Slice slice = slice_of(*record);
    if (slice.kind == Kind::ThreadName) {
      area.threads[slice.tid] = std::move(slice.name);
    } else {
      area.slices.push_back(std::move(slice));
    }
  }
  return area;
}

}  // namespace distrun::trace
