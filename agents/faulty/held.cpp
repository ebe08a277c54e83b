#include <agents/faulty/held.hpp>

#include <algorithm>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/deadline.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::agents::faulty {
namespace {

using namespace std::chrono_literals;

// Limit of a message that is held back behind others: without later messages it is sent late instead of never.
constexpr base::Nanoseconds kBehindMax = 200ms;

base::TimePoint now() { return base::system_clock().now(); }

}  // namespace

Holding Held::take(rpc::WorkerKey to, rpc::Message& message, const Fate& fate) {
  const bool is_late = fate.delay.count() > 0 || fate.behind > 0;
  if (!is_late && count_.load(std::memory_order_acquire) == 0) return Holding::NotWanted;
  std::unique_lock lock(mutex_);
  const bool is_in_line = fate.keeps_order || lines_.count(to.id) != 0;
  if (is_closed_ || (!is_late && !is_in_line)) return Holding::NotWanted;
  const std::uint64_t bytes = rpc::bytes_of(message);
  if (entries_.size() >= kMessagesMax || bytes_ + bytes > kBytesMax) return Holding::Full;
  rpc::copy_tensors(message);
  base::TimePoint due = base::deadline_after(fate.delay.count() > 0 || !is_late ? fate.delay : kBehindMax);
  Entry entry{to, {}, bytes, is_in_line ? 0 : fate.behind, is_in_line};
  if (is_in_line) due = std::max(due, lines_[to.id].last);
  entry.message = std::move(message);
  put(due, std::move(entry));
  return Holding::Taken;
}

bool Held::has_room() const noexcept {
  if (count_.load(std::memory_order_acquire) == 0) return true;
  const std::lock_guard lock(mutex_);
  return entries_.size() < kMessagesMax && bytes_ < kBytesMax;
}

void Held::cut(rpc::WorkerKey to) {
  const std::lock_guard lock(mutex_);
  if (!is_closed_) put(base::TimePoint::min(), {to, {}, 0, 0, false});
}

void Held::put(base::TimePoint due, Entry entry) {
  thread_.call_by(due);
  bytes_ += entry.bytes;
  if (entry.is_ordered) {
    Line& line = lines_[entry.to.id];
    ++line.count;
    line.last = due;
  }
  entries_.emplace(Time(due, next_++), std::move(entry));
  ++count_;
}

Held::Entries::node_type Held::extract(Entries::iterator at) {
  bytes_ -= at->second.bytes;
  return entries_.extract(at);
}

// Called after the message was sent: until then nothing may overtake it.
void Held::leave_line(const Entry& entry) noexcept {
  --count_;
  if (!entry.is_ordered) return;
  const auto line = lines_.find(entry.to.id);
  if (line != lines_.end() && --line->second.count == 0) lines_.erase(line);
}

std::vector<rpc::Message> Held::passed(rpc::WorkerKey to) {
  std::vector<rpc::Message> due;
  if (count_.load(std::memory_order_acquire) == 0) return due;
  const std::lock_guard lock(mutex_);
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto here = at++;
    Entry& entry = here->second;
    if (!entry.to.matches(to) || entry.behind == 0 || --entry.behind > 0) continue;
    const auto node = extract(here);
    leave_line(node.mapped());
    due.push_back(std::move(*node.mapped().message));
  }
  return due;
}

void Held::forget(rpc::WorkerKey to) noexcept {
  const std::lock_guard lock(mutex_);
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto here = at++;
    if (here->second.to.matches(to)) leave_line(extract(here).mapped());
  }
}

base::TimePoint Held::carry_out_due() noexcept {
  core::ThreadState state;
  state.rank = &rank_;
  const core::ThreadStateGuard as_rank(state);
  std::unique_lock lock(mutex_);
  while (!entries_.empty()) {
    const auto first = entries_.begin();
    if (const base::TimePoint due = first->first.first; due > now()) return due;
    auto node = extract(first);
    lock.unlock();
    const bool is_ordered = node.mapped().is_ordered;
    const rpc::WorkerKey to = node.mapped().to;
    carry_out(std::move(node.mapped()));
    lock.lock();
    leave_line({to, {}, 0, 0, is_ordered});
  }
  return core::kForever;
}

void Held::carry_out(Entry entry) noexcept {
  if (entry.message) return events_.bring(entry.to, std::move(*entry.message));
  events_.carry_out_cut(entry.to);
}

void Held::close(bool goes) noexcept {
  Entries rest;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    rest.swap(entries_);
  }
  thread_.stop();
  {
    const std::lock_guard lock(mutex_);
    lines_.clear();
    count_ = 0;
    bytes_ = 0;
  }
  if (!goes) return;
  for (auto& [due, entry] : rest) {
    if (entry.message) events_.bring(entry.to, std::move(*entry.message));
  }
}

}  // namespace distrun::agents::faulty
