#pragma once
// Messages that go later: when it is time, or behind others. A thread of its own, which there is only once something is
// held, sends what is due, and carries out cuts.
//
//   open -> closed
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agents/faulty/fates.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::agents::faulty {

// Does what is due; on the thread, or on that of whoever closes.
class DueEvents {
 public:
  virtual void bring(rpc::WorkerKey to, rpc::Message message) noexcept = 0;
  virtual void carry_out_cut(rpc::WorkerKey to) noexcept = 0;

 protected:
  ~DueEvents() = default;
};

enum class Holding : std::uint8_t { Taken, NotWanted, Full };

// Any thread.
class Held {
 public:
  static constexpr std::size_t kMessagesMax = 10'000;
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

  // `rank` is whose work the thread does.
  Held(DueEvents& events, core::RankState& rank) : events_(events), rank_(rank) {}
  ~Held() { close(false); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  // Takes the message if its fate, or one that went before it, wants that; its tensors are copied. Full: too much is
  // held, and `message` as it was. Throws what copying throws, and Error{Overloaded} if there can be no thread.
  Holding take(rpc::WorkerKey to, rpc::Message& message, const Fate& fate);
  void cut(rpc::WorkerKey to);
  // Returns whether another message would be taken.
  bool has_room() const noexcept;
  // Another message has gone there: what was to go behind it, and is to go now.
  std::vector<rpc::Message> passed(rpc::WorkerKey to);
  void forget(rpc::WorkerKey to) noexcept;
  // What is held goes at once, or nowhere. Idempotent.
  void close(bool goes) noexcept;

 private:
  struct Entry {
    rpc::WorkerKey to;
    std::optional<rpc::Message> message;  // nothing: a cut
    std::uint64_t bytes = 0;
    int behind = 0;
    bool is_ordered = false;
  };
  using Time = std::pair<base::TimePoint, std::uint64_t>;  // when, and the order of what is due at the same time
  using Entries = std::map<Time, Entry>;
  // Messages to one worker that keep their order.
  struct Line {
    std::size_t count = 0;  // also that which is being sent
    base::TimePoint last{};
  };

  // With the lock held.
  void put(base::TimePoint due, Entry entry);
  Entries::node_type extract(Entries::iterator at);
  void leave_line(const Entry& entry) noexcept;
  void run();
  void carry_out(Entry entry) noexcept;

  DueEvents& events_;
  core::RankState& rank_;
  std::atomic<std::size_t> count_{0};  // of what is held or is being sent: 0 is seen without the lock
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  Entries entries_;
  std::unordered_map<rpc::WorkerId, Line> lines_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_ = 0;
  bool is_closed_ = false;
  std::optional<base::Thread> thread_;
};

}  // namespace distrun::agents::faulty
