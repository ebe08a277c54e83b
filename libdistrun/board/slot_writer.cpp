#include <distrun/board/slot_writer.hpp>

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace distrun::board {
namespace {

std::int64_t ns_of(base::TimePoint time) noexcept {
  return std::chrono::duration_cast<base::Nanoseconds>(time.time_since_epoch()).count();
}

std::int64_t now_ns() noexcept { return ns_of(coarse_now()); }

template <std::size_t N>
void copy_start(char (&to)[N], std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), std::min(N, text.size()));
}

// Of a path the end tells more.
template <std::size_t N>
void copy_end(char (&to)[N], std::string_view text) noexcept {
  copy_start(to, text.size() > N ? text.substr(text.size() - N) : text);
}

std::int32_t own_tid() noexcept {
  // A system call once per thread. Ranks are forked before their first wait, so nothing wrong is inherited.
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

void SlotWriter::progress() noexcept {
  if (slot_ != nullptr) slot_->epoch.fetch_add(1, std::memory_order_relaxed);
}

void SlotWriter::note(WaitKind kind, std::string_view name, int peer, std::uint64_t id) noexcept {
  if (slot_ == nullptr) return;
  Operation operation;
  operation.number = slot_->operation_count.fetch_add(1, std::memory_order_relaxed) + 1;
  operation.at_ns = now_ns();
  operation.id = id;
  operation.peer = peer;
  operation.kind = kind;
  copy_start(operation.name, name);
  // A thread that was stopped in mid-write keeps its cell; that one record is lost then.
  slot_->operations[operation.number % kOperations].try_write(operation);
  progress();
}

// A thread tries the cell that it had last: threads that wait in turns do not look for theirs.
int SlotWriter::take_cell() noexcept {
  static thread_local int last = 0;
  std::uint64_t taken = slot_->taken.load(std::memory_order_relaxed);
  for (;;) {
    if (~taken == 0) return -1;
    const int cell = (taken >> last & 1) == 0 ? last : std::countr_one(taken);
    if (slot_->taken.compare_exchange_weak(taken, taken | std::uint64_t{1} << cell, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
      last = cell;
      return cell;
    }
  }
}

int SlotWriter::begin_wait(const WaitInfo& info, base::TimePoint since, base::TimePoint deadline) noexcept {
  if (slot_ == nullptr) return -1;
  const int cell = take_cell();
  if (cell < 0) {
    slot_->waits_not_shown.fetch_add(1, std::memory_order_relaxed);
    return -1;
  }
  WaitRecord record;
  record.id = info.id;
  record.since_ns = ns_of(since);
  record.deadline_ns = deadline == base::TimePoint::max() ? 0 : ns_of(deadline);
  record.peers = info.peers;
  record.tid = own_tid();
  record.line = info.site.line;
  record.kind = info.kind;
  record.rule = info.rule;
  record.open = 1;
  copy_start(record.name, info.name);
  copy_end(record.file, info.site.file);
  slot_->waits[static_cast<std::size_t>(cell)].write(record);
  return cell;
}

void SlotWriter::end_wait(int cell) noexcept {
  if (cell < 0) return;
  slot_->waits[static_cast<std::size_t>(cell)].clear();
  slot_->taken.fetch_and(~(std::uint64_t{1} << cell), std::memory_order_release);
  progress();
}

}  // namespace distrun::board
