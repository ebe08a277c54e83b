#pragma once
// One rank's part of a group of the backend nccl: its lanes, its unsettled calls, and their end after a failure. A
// failure ends the whole group: communicators are aborted, and every unfinished call fails with the first error, as do
// later calls. The process continues.
//
// Streams continue anyway, so an error that no wait or later call has reported fails the test at its end.
//
// Failures are detected by a communicator itself, by the comparison of the ranks (comparison.hpp) if the communicator
// has none, by the watchdog after a call's deadline, or by a thread that blocks for the call.
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/collectives/nccl/comparison.hpp>
#include <distrun/runtime/collectives/nccl/lane.hpp>
#include <distrun/runtime/collectives/nccl/settings.hpp>
#include <distrun/runtime/collectives/nccl/watchdog.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>

namespace distrun::collectives {

struct NcclParts {
  std::shared_ptr<nccl_line::Library> library;
  std::shared_ptr<Store> store;  // private to the group
  device::Device gpu;            // the rank's
  NcclSettings settings;
  // Splits the group's communicator off another group's; empty: the ranks meet.
  std::function<std::unique_ptr<nccl_line::Communicator>(const GroupInfo& group, base::TimePoint deadline)> split{};
};

// Thread-safe.
class NcclGroup final : public Judge, public Watched, public std::enable_shared_from_this<NcclGroup> {
 public:
  NcclGroup(GroupInfo group, NcclParts parts);

  // Call once, before anything else: meets the other ranks.
  void join(base::TimePoint deadline);
  std::shared_ptr<PendingCall> put(StreamCall call);
  // All ranks of this group call it. Returns a communicator of the ranks in `group`; null on ranks that are not in it.
  std::unique_ptr<nccl_line::Communicator> split(const GroupInfo& group, int colour, base::TimePoint deadline);
  bool splits() const noexcept { return parts_.library->splits(); }
  void leave(Leaving how, const std::string& why) noexcept;
  void settle(base::TimePoint deadline) noexcept;
  std::string why_over();
  device::Device gpu() const noexcept { return parts_.gpu; }
  int place() const noexcept { return group_.rank; }

  void look_at(PendingCall& call, bool host_sees) override;
  void time_out(PendingCall& call) override;
  std::vector<int> missing(const PendingCall& call) const override;
  void see() noexcept override { unseen_.see(); }
  base::TimePoint look() noexcept override;

 private:
  // State of the messages in one direction on one GPU.
  struct Pair {
    std::shared_ptr<Lane> lane;
    std::shared_ptr<CallQueue> queue;
    std::mutex turn;
    std::uint64_t asked = 0;  // messages; guarded by turn
  };
  using PairKey = std::tuple<int, int, device::Device>;  // from, to: group ranks
  using Calls = std::vector<std::shared_ptr<PendingCall>>;

  std::shared_ptr<PendingCall> put_collective(StreamCall call);
  std::shared_ptr<PendingCall> put_point_to_point(StreamCall call);
  void put_in_turn(Pair& pair, const std::shared_ptr<PendingCall>& pending, const device::Event& before);
  std::shared_ptr<Lane> lane_on(device::Device gpu, base::TimePoint deadline);
  std::shared_ptr<Pair> pair_of(int from, int to, device::Device gpu);
  std::shared_ptr<Lane> add_lane(const std::string& key, const GroupInfo& group, device::Device gpu);
  void keep(const std::shared_ptr<PendingCall>& pending);
  void compare(const std::shared_ptr<PendingCall>& pending);

  Calls unsettled() const;
  void forget_settled();
  bool wait_for_all(base::TimePoint deadline);
  // The first error counts.
  void fail(const std::exception_ptr& why) noexcept;
  // Fails the group after a call of `of` timed out; adds what the library's RAS reports, which takes a moment.
  void fail_late(const GroupInfo& of, const std::exception_ptr& why) noexcept;
  std::exception_ptr with_diagnosis(const GroupInfo& of, const std::exception_ptr& why) const;
  std::exception_ptr with_name(const PendingCall& call, const std::exception_ptr& why) const;
  std::exception_ptr peer_failure(const PendingCall& call) const;
  void refuse_if_over();  // marks the error as reported to the user
  void throw_if_over() const;

  const GroupInfo group_;
  const NcclParts parts_;
  core::RankState& rank_;
  std::shared_ptr<Comparison> comparison_;  // set by join(); null: communicators compare
  std::atomic<bool> is_ending_{false};      // a thread is asking the RAS first
  future::UnseenError unseen_;              // the error that ended it: streams continue with wrong numbers
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<device::Device, std::shared_ptr<Lane>> lanes_;
  std::map<PairKey, std::shared_ptr<Pair>> pairs_;
  std::vector<std::shared_ptr<Lane>> all_lanes_;
  Calls calls_;
  std::string over_;  // why; empty: not over
};

}  // namespace distrun::collectives
