#pragma once
// Events that have arrived at a rank and that it may wait for: its next order, barrier releases, messages, and failures
// of other ranks. The listener adds them; any thread of the rank waits. Thread-safe.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <distrun/common/board/wait.hpp>
#include <distrun/common/trace/writer.hpp>
#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

// How a wait ended, in terms of the C interface.
struct Waited {
  std::int32_t code = 0;  // DISTRUN_OK, _TIMEOUT, _PEER_FAILED, _DISCONNECTED
  std::string why;
  std::int32_t because_of = -1;
  wire::RankMessage message;  // for receive
};

class Inbox {
 public:
  // `writer` shows the waits; `trace` records them, unless it is null. Both must outlive the inbox.
  Inbox(std::int32_t rank, std::int32_t world_size, board::SlotWriter& writer, trace::Writer* trace = nullptr)
      : rank_(rank), world_size_(world_size), writer_(writer), trace_(trace) {}
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Limit of the bytes of unreceived messages.
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

  // Drops leftovers of an earlier test.
  void put(wire::RunOrder order);
  // Signals that there is no further order.
  void dismiss();
  void put(wire::BarrierRelease release);
  // Returns false, and drops the message, if there is no room.
  bool put(wire::RankMessage message);
  void put(wire::PeerFailed failure);
  void put(wire::PeerDied death);
  void put(wire::PeerFinished peer);
  void disconnect();

  // Sets a handler that is called when a peer fails, or at once if one has, until the next order or the next call of
  // this function. It runs on the listener and must not block. After this returns, the previous handler does not run.
  using PeerFailedCall = std::function<void(std::int32_t because_of, const std::string& why)>;
  void on_peer_failed(PeerFailedCall call);
  // The same for each peer that dies as the test has declared.
  using PeerDiedCall = std::function<void(std::int32_t rank)>;
  void on_peer_died(PeerDiedCall call);

  // Returns the rank's next test, nullopt if there is no further one.
  std::optional<wire::RunOrder> wait_for_order();
  // timeout_ms < 0: no timeout. `site` is the call site in the test, for the board.
  Waited wait_for_release(const std::string& barrier, std::int64_t timeout_ms, base::Location site);
  Waited wait_for_message(std::int32_t from, const std::string& tag, std::int64_t timeout_ms, base::Location site);
  // Returns whether wait_for_message() would return at once.
  bool has_message(std::int32_t from, const std::string& tag);

 private:
  template <class Ready>
  std::optional<Waited> wait(std::unique_lock<std::mutex>& lock, std::int64_t timeout_ms, const board::WaitInfo& shown,
                             const std::string& what, Ready ready);
  board::PeerSet others() const noexcept;
  std::deque<wire::RankMessage>::iterator find(std::int32_t from, const std::string& tag);

  bool nobody_sends(std::int32_t from) const;
  void call_of_failure();

  const std::int32_t rank_;
  const std::int32_t world_size_;
  board::SlotWriter& writer_;
  trace::Writer* const trace_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_.
  std::optional<wire::RunOrder> order_;
  bool dismissed_ = false;
  std::multimap<std::string, wire::BarrierRelease> releases_;
  std::deque<wire::RankMessage> messages_;
  std::size_t bytes_ = 0;
  std::optional<wire::PeerFailed> peer_failed_;
  std::set<std::int32_t> finished_;  // among the ranks that this one waits for
  std::vector<std::int32_t> died_;   // as the test has declared
  bool disconnected_ = false;

  std::mutex calling_;  // held while a call runs; taken before mutex_
  // Guarded by calling_.
  PeerFailedCall peer_failed_call_;
  PeerDiedCall peer_died_call_;
};

}  // namespace distrun::rank
