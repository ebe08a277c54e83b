#pragma once
// Messages between two workers, so that each has its effect once, whatever becomes of it on its way: numbered from 1 by
// the sender, kept until they are acknowledged, and known by their number to the receiver when they come again.
#include <cstdint>
#include <map>
#include <set>

#include <distrun/runtime/rref/protocol/fork_message.hpp>

namespace distrun::rref {

// What was sent to one worker and is not acknowledged yet.
class Outbox {
 public:
  const ForkMessage& add(ForkMessage message) {
    message.number = ++last_;
    return waiting_.emplace(last_, std::move(message)).first->second;
  }
  // Nothing, of kind Ack: it was acknowledged before.
  ForkMessage take(std::uint64_t number) {
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) return {ForkMessageKind::Ack};
    ForkMessage message = std::move(found->second);
    waiting_.erase(found);
    return message;
  }
  std::uint64_t last() const noexcept { return last_; }
  const std::map<std::uint64_t, ForkMessage>& waiting() const noexcept { return waiting_; }

 private:
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, ForkMessage> waiting_;
};

// What has come from one worker: all numbers up to one, and a few beyond it. The sender has no more than so many under
// way (Outbox::waiting()), so it stays small.
class Inbox {
 public:
  // False: it has come before.
  bool add(std::uint64_t number) {
    if (number <= all_up_to_ || !beyond_.insert(number).second) return false;
    while (!beyond_.empty() && *beyond_.begin() == all_up_to_ + 1) {
      beyond_.erase(beyond_.begin());
      ++all_up_to_;
    }
    return true;
  }
  std::uint64_t all_up_to() const noexcept { return all_up_to_; }
  const std::set<std::uint64_t>& beyond() const noexcept { return beyond_; }

 private:
  std::uint64_t all_up_to_ = 0;
  std::set<std::uint64_t> beyond_;
};

}  // namespace distrun::rref
