#pragma once
// How the calls of a group run: in their order, on the caller's thread or beside it, until one fails; and what a rank
// shows of them. What each collective brings is process_group.cpp's.
//
//   job       made by the group, with bytes of its tensors
//   started   has its number; runs at once on the caller's thread if nothing is under way and it is not async, else on
//             a handler, behind the others
//   done      results are where they belong; or it has failed, and with it the group (over)
//
// With a backend for GPUs a job is put on a stream at once, by whoever starts it.
//
// Letters have no order among each other but the backend's: each that is async ends on a handler of its own.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/collectives/call_bytes.hpp>
#include <distrun/runtime/collectives/call_queue.hpp>
#include <distrun/runtime/collectives/device_backend.hpp>
#include <distrun/runtime/collectives/work.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// A collective on its way.
struct Job {
  Call call;
  CallBytes bytes;
  std::function<void()> unpack;  // what has come into what is written; empty: it came there
  TensorList results;            // none: what is written
};

// Of one group. Any thread.
class CallEngine : public std::enable_shared_from_this<CallEngine> {
 public:
  using Location = base::Location;

  // Meets the group's other ranks in `store`.
  CallEngine(GroupInfo info, std::string backend, base::Nanoseconds timeout, Store& store,
             const BackendOptions& options);

  // For a tensor like that; an undefined one: for none.
  std::shared_ptr<Job> job(CallKind kind, const Tensor& like, const CallOptions& options, Location site) const;
  Work start(const std::shared_ptr<Job>& job, const CallOptions& options);

  Backend& backend() const noexcept { return *backend_; }
  // Groups are made of this one's, and the rank is in none.
  void stay_out(base::Nanoseconds timeout);
  // Where tensors of a call must be; nothing: anywhere.
  std::optional<device::Device> gpu() const noexcept;
  // With a backend for GPUs: throws Error{InvalidArgument} unless all are on one, which is returned; of none the
  // rank's.
  device::Device one_gpu(CallKind kind, const TensorList& tensors, Location site) const;
  Work finish(CallKind kind, std::shared_ptr<Transfer> transfer, std::shared_ptr<CallBytes> bytes,
              const CallOptions& options, Location site);

  // Throws Error{Cancelled} if the group is over, and as refuse_if_inherited().
  void refuse_if_over(Location site) const;
  // The process was forked from the one that is in the group: the rank's place is the parent's, and so are the threads.
  bool is_inherited() const noexcept { return mark_.is_inherited(); }
  void refuse_if_inherited(Location site) const;
  // What was asked for before is done first: what goes wrong with it is worth knowing. For some seconds at most.
  void leave();
  // Waits for the calls that were started, for some seconds at most. The group stays open.
  void settle();
  // `because_of`: the rank that caused it; -1: none is known.
  void end(Leaving how, std::string_view why, int because_of = -1) noexcept;
  std::uint64_t calls() const;

 private:
  Work start_later(const std::shared_ptr<Job>& job);
  Work put_on_stream(const std::shared_ptr<Job>& job, const CallOptions& options);
  void run(Job& job);
  void wait_for_calls(std::string_view why) const;
  std::string why_over() const;
  Error over(const std::string& why, Location site) const;
  // By its error, which nobody may ever look at.
  void note_end(const std::shared_ptr<future::FutureState>& state, const std::exception_ptr& error);
  void note(const Job& job) const;
  base::TimePoint deadline(const CallOptions& options) const;

  const base::ProcessMark mark_;
  const GroupInfo info_;
  const base::Nanoseconds timeout_;
  const std::unique_ptr<Backend> backend_;
  DeviceBackend* const gpus_;  // null: the backend moves bytes of the host
  const std::shared_ptr<CallQueue> queue_;
  core::RankState& rank_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string over_;                               // why no call can be made any more
  int over_because_of_ = -1;                       // the rank from which that follows; -1: none
  std::shared_ptr<future::FutureState> ended_by_;  // that nobody may have looked at; null: it was none
  mutable std::mutex putting_;
  std::uint64_t put_ = 0;  // collectives, on streams; guarded by putting_, which is held while one is put
};

}  // namespace distrun::collectives
