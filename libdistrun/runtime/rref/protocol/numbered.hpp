#pragma once
// Messages between two workers that take effect exactly once, whatever happens in transit: the sender numbers them from
// 1 and keeps them until they are acknowledged, and the receiver recognizes duplicates by their number.
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <distrun/runtime/rref/protocol/fork_message.hpp>

namespace distrun::rref {

// Messages to one worker that are not acknowledged yet.
class Outbox {
 public:
  using Place = std::map<std::uint64_t, ForkMessage>::node_type;
  // Returns memory for a message that is added later.
  static Place make_place() {
    std::map<std::uint64_t, ForkMessage> one;
    one.try_emplace(0);
    return one.extract(one.begin());
  }

  const ForkMessage& add(ForkMessage message, Place place) noexcept {
    message.number = ++last_;
    place.key() = last_;
    place.mapped() = std::move(message);
    return waiting_.insert(std::move(place)).position->second;
  }
  const ForkMessage& add(ForkMessage message) { return add(std::move(message), make_place()); }
  // Returns a message of kind Ack if it was acknowledged before.
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

// The numbers received from one worker: all up to one, and a few beyond it. It stays small, since the sender limits the
// messages in flight (Outbox::waiting()).
class Inbox {
 public:
  bool has(std::uint64_t number) const noexcept { return number <= all_up_to_ || beyond_.contains(number); }
  // Returns false for a duplicate.
  bool add(std::uint64_t number) {
    if (!begin(number)) return false;
    end();
    return true;
  }
  // The same in two steps, of which the second cannot fail. cancel() undoes the first.
  bool begin(std::uint64_t number) { return number > all_up_to_ && beyond_.insert(number).second; }
  void cancel(std::uint64_t number) noexcept { beyond_.erase(number); }
  void end() noexcept {
    while (!beyond_.empty() && *beyond_.begin() == all_up_to_ + 1) {
      beyond_.erase(beyond_.begin());
      ++all_up_to_;
    }
  }
  std::uint64_t all_up_to() const noexcept { return all_up_to_; }
  const std::set<std::uint64_t>& beyond() const noexcept { return beyond_; }

 private:
  std::uint64_t all_up_to_ = 0;
  std::set<std::uint64_t> beyond_;
};

}  // namespace distrun::rref
