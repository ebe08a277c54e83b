#include <distrun/runtime/rref/caretaker.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::rref {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kFirst = 100ms;  // many times longer than an answer takes on a busy machine
constexpr base::Nanoseconds kLongest = 5s;
constexpr std::size_t kAtOnce = 256;  // messages to one worker per pass
constexpr std::size_t kRows = 1024;
constexpr int kPageShare = 100;  // at most 1/kPageShare of the time

}  // namespace

void Caretaker::stop() noexcept {
  thread_.stop();
  writer_.reset();  // a reference may keep the caretaker until the process ends
}

void Caretaker::notice_anew() {
  const std::lock_guard lock(mutex_);
  if (is_noticed_.load()) return;
  thread_.call_by(base::system_clock().now() + kFirst);
  is_noticed_.store(true);
}

base::TimePoint Caretaker::look() noexcept {
  const bool has_changed = [this] {
    const std::lock_guard lock(mutex_);
    return is_noticed_.exchange(false);
  }();
  const bool waits = base::if_memory([&] { return look_once(has_changed); }, [] { return true; });
  return waits ? base::system_clock().now() + kFirst : core::kForever;
}

bool Caretaker::look_once(bool has_changed) {
  const Outboxes waiting = charges_.waiting(kAtOnce);
  std::erase_if(peers_, [&](const auto& each) { return waiting.count(each.first) == 0; });
  for (const auto& [to, messages] : waiting) send_again(to, messages);
  is_page_old_ = is_page_old_ || has_changed;
  if (is_page_old_) is_page_old_ = !write_page();
  return !waiting.empty() || is_page_old_;
}

// Sends only messages that have waited for a whole pause.
void Caretaker::send_again(WorkerKey to, const std::vector<ForkMessage>& messages) {
  const base::TimePoint now = base::system_clock().now();
  Peer& peer = peers_[to];
  const auto is_old = [&](const ForkMessage& each) { return each.number <= peer.newest; };
  const auto old = static_cast<std::size_t>(std::count_if(messages.begin(), messages.end(), is_old));
  if (old < peer.old || peer.pause.count() == 0) peer.pause = kFirst;  // the worker answers
  peer.old = old;
  if (now < peer.next) return;
  for (const ForkMessage& each : messages) {
    if (is_old(each)) charges_.send(to, each);
  }
  if (old != 0) peer.pause = std::min(peer.pause * 2, kLongest);
  peer.newest = messages.back().number;
  peer.old = messages.size();
  peer.next = base::deadline_after(peer.pause, now);
}

bool Caretaker::write_page() {
  const base::TimePoint begin = base::system_clock().now();
  if (begin < next_page_) return false;
  try {
    if (!writer_) writer_.emplace();
    writer_->write(charges_.page(kRows));
  } catch (const std::exception&) {
    return true;  // no file descriptor is available, so no page is shown
  }
  next_page_ = begin + (base::system_clock().now() - begin) * kPageShare;
  return true;
}

}  // namespace distrun::rref
