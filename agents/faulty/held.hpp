#pragma once
// Holds messages back until a time, or until other messages were sent first. A thread (core/deadline_thread.hpp),
// started with the first held message, sends what is due and carries out cuts.
//
//   open -> closed
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agents/faulty/fates.hpp>
#include <distrun/runtime/core/deadline_thread.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::agents::faulty {

// Carries out what is due. Called on Held's thread, or on the thread that calls close().
class DueEvents {
 public:
  virtual void bring(rpc::WorkerKey to, rpc::Message message) noexcept = 0;
  virtual void carry_out_cut(rpc::WorkerKey to) noexcept = 0;

 protected:
  ~DueEvents() = default;
};

enum class Holding : std::uint8_t { Taken, NotWanted, Full };

// Thread-safe.
class Held {
 public:
  static constexpr std::size_t kMessagesMax = 10'000;
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

  // Held's thread runs as `rank`.
  Held(DueEvents& events, core::RankState& rank)
      : events_(events), rank_(rank), thread_("distrun-faults", [this] { return carry_out_due(); }) {}
  ~Held() { close(false); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  // Takes the message, with copies of its tensors, if its fate or an ordered message before it requires that. Full: the
  // limit is reached; `message` is unchanged. Throws what copying throws, and Error{Overloaded} without a thread.
  Holding take(rpc::WorkerKey to, rpc::Message& message, const Fate& fate);
  void cut(rpc::WorkerKey to);
  // Returns whether take() has room for another message.
  bool has_room() const noexcept;
  // Called after another message was sent to that worker. Returns the messages that were due behind it.
  std::vector<rpc::Message> passed(rpc::WorkerKey to);
  void forget(rpc::WorkerKey to) noexcept;
  // Sends what is held if `goes`, or else drops it. Idempotent.
  void close(bool goes) noexcept;

 private:
  struct Entry {
    rpc::WorkerKey to;
    std::optional<rpc::Message> message;  // empty: a cut
    std::uint64_t bytes = 0;
    int behind = 0;
    bool is_ordered = false;
  };
  using Time = std::pair<base::TimePoint, std::uint64_t>;  // due time, then order of arrival
  using Entries = std::map<Time, Entry>;
  // Counts the messages to one worker that keep their order.
  struct Line {
    std::size_t count = 0;  // includes the one that is being sent
    base::TimePoint last{};
  };

  // These require mutex_.
  void put(base::TimePoint due, Entry entry);
  Entries::node_type extract(Entries::iterator at);
  void leave_line(const Entry& entry) noexcept;
  // Returns when the next entry is due.
  base::TimePoint carry_out_due() noexcept;
  void carry_out(Entry entry) noexcept;

  DueEvents& events_;
  core::RankState& rank_;
  std::atomic<std::size_t> count_{0};  // of messages held or being sent; 0 is read without the lock
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Entries entries_;
  std::unordered_map<rpc::WorkerId, Line> lines_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_ = 0;
  bool is_closed_ = false;
  core::DeadlineThread thread_;  // the last member: destroyed first
};

}  // namespace distrun::agents::faulty
