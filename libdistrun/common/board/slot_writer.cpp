#include <distrun/common/board/slot_writer.hpp>

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <distrun/common/base/probe.hpp>

namespace distrun::board {
namespace {

std::int64_t ns_of(base::TimePoint time) noexcept {
  return std::chrono::duration_cast<base::Nanoseconds>(time.time_since_epoch()).count();
}

std::int64_t now_ns() noexcept { return ns_of(coarse_now()); }

// The end of a path is its most useful part.
std::string_view end_of(std::string_view path) noexcept {
  return path.size() > kFileSize ? path.substr(path.size() - kFileSize) : path;
}

// Hides the bound of `size` from g++, which would copy with `rep movs`: its start-up takes longer than all the rest.
void copy(char* to, std::string_view from) noexcept {
  std::size_t size = from.size();
  asm("" : "+r"(size));
  if (size != 0) std::memcpy(to, from.data(), size);
}

std::int32_t own_tid() noexcept {
  // A system call once per thread. Ranks are forked before their first wait, so no wrong id is inherited.
  static thread_local std::int32_t tid = ::gettid();
  return tid;
}

}  // namespace

base::TimePoint coarse_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return base::TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

void SlotWriter::attach() noexcept {
  if (slot_ == nullptr) return;
  slot_->pid.store(::getpid(), std::memory_order_relaxed);
  slot_->body_tid.store(own_tid(), std::memory_order_relaxed);
  slot_->magic.store(kMagic, std::memory_order_release);
}

void SlotWriter::enter_phase(wire::Phase phase) noexcept {
  if (slot_ == nullptr) return;
  slot_->phase_since_ns.store(now_ns(), std::memory_order_relaxed);
  slot_->phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
  progress();
}

void SlotWriter::leave(int code) noexcept {
  std::uint32_t nobody = 0;
  const std::uint32_t shown = 1 + (static_cast<std::uint32_t>(code) & 0xff);
  if (slot_ != nullptr) slot_->leaving.compare_exchange_strong(nobody, shown, std::memory_order_relaxed);
}

void SlotWriter::note_stray_child(std::int32_t pid) const noexcept {
  if (slot_ != nullptr) slot_->stray_child.store(pid, std::memory_order_relaxed);
}

void SlotWriter::note_failed_child(std::int32_t pid) const noexcept {
  if (slot_ != nullptr) slot_->failed_child.store(pid, std::memory_order_relaxed);
}

void SlotWriter::progress() noexcept {
  if (slot_ != nullptr) slot_->progress.fetch_add(1, std::memory_order_relaxed);
}

void SlotWriter::note(WaitKind kind, std::string_view name, int peer, std::uint64_t id) noexcept {
  if (slot_ == nullptr) return;
  Operation operation;
  operation.number = slot_->operation_count.fetch_add(1, std::memory_order_relaxed) + 1;
  operation.at_ns = now_ns();
  operation.id = id;
  operation.peer = peer;
  operation.kind = kind;
  copy(operation.name, name.substr(0, kNameSize));
  // If a thread was stopped in mid-write, its cell stays taken and this record is lost.
  slot_->operations[operation.number % kOperations].try_write(operation);
}

// Returns the number of used bytes of the record. Writes `record.rest` only that far.
std::size_t SlotWriter::fill(WaitRecord& record, const WaitInfo& info) noexcept {
  const std::string_view name = info.name.substr(0, kNameSize);
  const std::string_view file = end_of(info.site.file);
  const std::size_t peer_words = info.peers.used_words();
  char* const text = record.rest + peer_words * sizeof(std::uint64_t);
  const std::size_t size = name.size() + file.size();
  if (size % 8 != 0) std::memset(text + size / 8 * 8, 0, 8);  // the last word is copied whole
  for (std::size_t i = 0; i < peer_words; ++i) {
    std::memcpy(record.rest + i * sizeof(std::uint64_t), &info.peers.bits[i], sizeof(std::uint64_t));
  }
  copy(text, name);
  copy(text + name.size(), file);
  record.peer_words = static_cast<std::uint8_t>(peer_words);
  record.name_size = static_cast<std::uint8_t>(name.size());
  record.file_size = static_cast<std::uint8_t>(file.size());
  record.id = info.id;
  record.line = info.site.line;
  record.kind = info.kind;
  record.rule = info.rule;
  return offsetof(WaitRecord, rest) + peer_words * sizeof(std::uint64_t) + size;
}

// A thread tries the cell that it used last, so that threads that take turns do not search.
int SlotWriter::begin_wait(const WaitInfo& info, base::TimePoint since, base::TimePoint deadline) noexcept {
  if (slot_ == nullptr) return -1;
  static thread_local int last = 0;
  WaitRecord record;
  const std::size_t size = fill(record, info);
  record.since_ns = ns_of(since);
  record.deadline_ns = deadline == base::TimePoint::max() ? 0 : ns_of(deadline);
  record.tid = own_tid();
  for (int i = 0; i < kWaits; ++i) {
    const int cell = (last + i) % kWaits;
    if (!slot_->waits[static_cast<std::size_t>(cell)].claim(record, size)) continue;
    DISTRUN_PROBE(wait_begin, cell, name_of(info.kind), info.name.data(), info.name.size());
    return last = cell;
  }
  slot_->waits_not_shown.fetch_add(1, std::memory_order_relaxed);
  return -1;
}

void SlotWriter::end_wait(int cell) noexcept {
  if (cell < 0) return;
  slot_->waits[static_cast<std::size_t>(cell)].release();
  DISTRUN_PROBE(wait_end, cell);
}

int SlotWriter::show_error(std::string_view text) noexcept {
  if (slot_ == nullptr) return -1;
  ErrorRecord record;
  record.at_ns = now_ns();
  record.size = std::min(text.size(), kErrorSize);
  std::memset(record.text + record.size / 8 * 8, 0, record.size % 8 != 0 ? 8 : 0);  // the last word is copied whole
  copy(record.text, text.substr(0, record.size));
  for (int cell = 0; cell < kErrors; ++cell) {
    auto& place = slot_->errors[static_cast<std::size_t>(cell)];
    if (place.claim(record, offsetof(ErrorRecord, text) + record.size)) return cell;
  }
  return -1;
}

void SlotWriter::hide_error(int cell) noexcept {
  if (cell >= 0) slot_->errors[static_cast<std::size_t>(cell)].release();
}

}  // namespace distrun::board
