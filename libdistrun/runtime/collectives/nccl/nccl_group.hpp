#pragma once
// One rank's part in a group of the backend nccl: its lanes, its calls that are not settled, and their end if one goes
// wrong. What fails ends all of it: communicators are aborted, every call that is not done fails, with the first error,
// and so does whatever comes later. The process goes on.
//
// Streams go on all the same, so what nobody is told, by a wait or the next call, fails the test at its end.
//
// Who finds that something is wrong: a communicator itself, the comparison of the ranks (comparison.hpp) where that has
// none of its own, the watchdog after a call's time, or who blocks for one.
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
  std::shared_ptr<Store> store;  // the group's own
  device::Device gpu;            // the rank's
  NcclSettings settings;
  // Its communicator, of another group's; empty: its ranks meet.
  std::function<std::unique_ptr<nccl_line::Communicator>(const GroupInfo& group, base::TimePoint deadline)> split{};
};

// Any thread.
class NcclGroup final : public Judge, public Watched, public std::enable_shared_from_this<NcclGroup> {
 public:
  NcclGroup(GroupInfo group, NcclParts parts);

  // Once, before anything else: meets the other ranks.
  void join(base::TimePoint deadline);
  std::shared_ptr<PendingCall> put(StreamCall call);
  // Asked of all of its ranks: a communicator of those in `group`; null for one that is in none.
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
  // Of letters of one direction on one GPU.
  struct Pair {
    std::shared_ptr<Lane> lane;
    std::shared_ptr<CallQueue> queue;
    std::mutex turn;
    std::uint64_t asked = 0;  // letters; guarded by turn
  };
  using PairKey = std::tuple<int, int, device::Device>;  // from, to: places
  using Calls = std::vector<std::shared_ptr<PendingCall>>;

  std::shared_ptr<PendingCall> put_collective(StreamCall call);
  std::shared_ptr<PendingCall> put_letter(StreamCall call);
  void put_in_turn(Pair& pair, const std::shared_ptr<PendingCall>& pending, const device::Event& before);
  std::shared_ptr<Lane> lane_on(device::Device gpu, base::TimePoint deadline);
  std::shared_ptr<Pair> pair_of(int from, int to, device::Device gpu);
  std::shared_ptr<Lane> add_lane(const std::string& key, const GroupInfo& group, device::Device gpu);
  void keep(const std::shared_ptr<PendingCall>& pending);
  void compare(const std::shared_ptr<PendingCall>& pending);

  Calls unsettled() const;
  void forget_settled();
  bool wait_for_all(base::TimePoint deadline);
  // The first word counts.
  void fail(const std::exception_ptr& why) noexcept;
  // By a call of `of` that has timed out: with what the library's RAS says, which takes a moment.
  void fail_late(const GroupInfo& of, const std::exception_ptr& why) noexcept;
  std::exception_ptr with_diagnosis(const GroupInfo& of, const std::exception_ptr& why) const;
  std::exception_ptr with_name(const PendingCall& call, const std::exception_ptr& why) const;
  std::exception_ptr peer_failure(const PendingCall& call) const;
  void refuse_if_over();  // tells the user
  void throw_if_over() const;

  const GroupInfo group_;
  const NcclParts parts_;
  core::RankState& rank_;
  std::shared_ptr<Comparison> comparison_;  // from join() on; null: communicators do it themselves
  std::atomic<bool> is_ending_{false};      // by somebody who asks the RAS first
  future::UnseenError unseen_;              // what has ended it: streams go on with wrong numbers
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<device::Device, std::shared_ptr<Lane>> lanes_;
  std::map<PairKey, std::shared_ptr<Pair>> pairs_;
  std::vector<std::shared_ptr<Lane>> all_lanes_;
  Calls calls_;
  std::string over_;  // why; empty: it is not
};

}  // namespace distrun::collectives
