#include <distrun/common/board/slot_reader.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/plugin_table.hpp>

namespace distrun::board {
namespace {

static_assert(kPeersMax >= wire::kWorldSizeMax, "a wait names any rank of any test");

template <std::size_t N>
std::string text_of(const char (&from)[N]) {
  return std::string(from, ::strnlen(from, N));
}

bool is_sound(const WaitRecord& record) {
#ifdef DISTRUN_FUZZ_PLANTED_BUG
  return true;
#endif
  return static_cast<int>(record.kind) < kWaitKindCount &&
         static_cast<int>(record.rule) <= static_cast<int>(PeerRule::Any) && record.name_size <= kNameSize &&
         record.file_size <= kFileSize && record.peer_words <= PeerSet().bits.size();
}

// The words of the record that are not there are 0.
PeerSet peers_of(const WaitRecord& record) {
  PeerSet peers;
  std::memcpy(peers.bits.data(), record.rest, record.peer_words * sizeof(std::uint64_t));
  return peers;
}

ShownWait shown(const WaitRecord& record, int world_size, int body_tid) {
  ShownWait wait;
  wait.kind = record.kind;
  const char* const text = record.rest + record.peer_words * sizeof(std::uint64_t);
  wait.name.assign(text, record.name_size);
  wait.id = record.id;
  wait.rule = record.rule;
  const PeerSet peers = peers_of(record);
  for (int rank = 0; rank < std::min(world_size, kPeersMax); ++rank) {
    if (peers.has(rank)) wait.peers.push_back(rank);
  }
  wait.tid = record.tid;
  wait.in_body = record.tid == body_tid;
  wait.since_ns = record.since_ns;
  wait.deadline_ns = record.deadline_ns;
  wait.file.assign(text + record.name_size, record.file_size);
  wait.line = record.line;
  return wait;
}

std::vector<ShownWait> waits_of(const Slot& slot, int world_size, int body_tid) {
  std::vector<ShownWait> waits;
  for (const auto& cell : slot.waits) {
    const auto record = cell.read();
    if (record && is_sound(*record)) waits.push_back(shown(*record, world_size, body_tid));
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const ShownWait& a, const ShownWait& b) { return a.since_ns < b.since_ns; });
  return waits;
}

std::vector<ShownOperation> operations_of(const Slot& slot) {
  std::vector<ShownOperation> operations;
  for (const auto& cell : slot.operations) {
    const auto record = cell.read();
    if (!record || record->number == 0 || static_cast<int>(record->kind) >= kWaitKindCount) continue;
    operations.push_back(
        {record->number, record->kind, text_of(record->name), record->id, record->peer, record->at_ns});
  }
  std::sort(operations.begin(), operations.end(),
            [](const ShownOperation& a, const ShownOperation& b) { return a.number < b.number; });
  return operations;
}

std::vector<std::string> errors_of(const Slot& slot) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const auto& cell : slot.errors) {
    const auto record = cell.read();
    if (!record || record->size > kErrorSize) continue;
    found.emplace_back(record->at_ns, std::string(record->text, record->size));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> errors;
  for (auto& [at_ns, text] : found) errors.push_back(std::move(text));
  return errors;
}

// Any change in what a rank shows counts as progress.
std::uint64_t epoch_of(const Slot& slot) {
  std::uint64_t epoch =
      slot.progress.load(std::memory_order_relaxed) + slot.operation_count.load(std::memory_order_relaxed);
  for (const auto& cell : slot.waits) epoch += cell.releases();
  return epoch;
}

}  // namespace

std::optional<Shown> read(const Slot& slot, int world_size) {
  if (slot.magic.load(std::memory_order_acquire) != kMagic) return std::nullopt;
  Shown shown;
  shown.pid = slot.pid.load(std::memory_order_relaxed);
  shown.body_tid = slot.body_tid.load(std::memory_order_relaxed);
  const std::uint32_t phase = slot.phase.load(std::memory_order_acquire);
  if (phase < wire::kPhaseCount) shown.phase = static_cast<wire::Phase>(phase);
  shown.phase_since_ns = slot.phase_since_ns.load(std::memory_order_relaxed);
  shown.epoch = epoch_of(slot);
  shown.waits_not_shown = slot.waits_not_shown.load(std::memory_order_relaxed);
  const std::uint32_t leaving = slot.leaving.load(std::memory_order_relaxed);
  if (leaving != 0 && leaving <= 256) shown.leaving_with = static_cast<int>(leaving - 1);
  shown.stray_child = slot.stray_child.load(std::memory_order_relaxed);
  shown.child_returned = shown.stray_child != 0;
  if (!shown.child_returned) shown.stray_child = slot.failed_child.load(std::memory_order_relaxed);
  shown.waits = waits_of(slot, world_size, shown.body_tid);
  shown.operations = operations_of(slot);
  shown.errors = errors_of(slot);
  return shown;
}

}  // namespace distrun::board
