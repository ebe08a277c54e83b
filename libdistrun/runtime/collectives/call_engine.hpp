#pragma once
// Runs the calls of a group in order, on the caller's thread or beside it, until one fails, and shows what the rank
// does. The data of each collective is set up in process_group.cpp.
//
//   job       created by the group, with the bytes of its tensors
//   started   has its number; runs at once on the caller's thread if no call is active and it is not async, else on a
//             handler, after the others
//   done      the results are in place; or it failed, which ends the group (over)
//
// With a GPU backend the starting thread puts a job on a stream at once.
//
// Only the backend orders point-to-point messages: each async one finishes on a separate handler.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/collectives/call_bytes.hpp>
#include <distrun/runtime/collectives/call_queue.hpp>
#include <distrun/runtime/collectives/work.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// A collective in flight.
struct Job {
  Call call;
  CallBytes bytes;
  std::function<void()> unpack;  // moves the received bytes into the outputs; empty: they are there already
  TensorList results;            // empty: the written tensors
};

// Runs the calls of one group. Thread-safe.
class CallEngine : public std::enable_shared_from_this<CallEngine> {
 public:
  using Location = base::Location;

  // Meets the group's other ranks in `store`.
  CallEngine(GroupInfo info, std::string backend, base::Nanoseconds timeout, Store& store,
             const BackendOptions& options);

  // Creates a job for a tensor such as `like`; undefined if the call has no tensor.
  std::shared_ptr<Job> job(CallKind kind, const Tensor& like, const CallOptions& options, Location site) const;
  Work start(const std::shared_ptr<Job>& job, const CallOptions& options);

  // Returns what the group's backend has in common with all others.
  Backend& backend() const noexcept;
  // Returns the backend, which must be for host bytes: gpu() returns nothing.
  HostBackend& host() const noexcept { return *host_; }
  // Takes part in the creation of groups from this group's ranks, on a rank that joins none.
  void stay_out(base::Nanoseconds timeout);
  // Returns where the tensors of a call must be; nothing: anywhere.
  std::optional<device::Device> gpu() const noexcept;
  // Returns the GPU of the tensors (GPU backends only); without tensors the rank's GPU. Throws
  // Error{InvalidArgument} if the tensors are on several devices.
  device::Device one_gpu(CallKind kind, const TensorList& tensors, Location site) const;
  Work finish(CallKind kind, std::shared_ptr<Transfer> transfer, std::shared_ptr<CallBytes> bytes,
              const CallOptions& options, Location site);

  // Throws Error{Cancelled} if the group is over, and what refuse_if_inherited() throws.
  void refuse_if_over(Location site) const;
  // Returns true in a process forked from the group's process: the rank and its threads belong to the parent.
  bool is_inherited() const noexcept { return mark_.is_inherited(); }
  void refuse_if_inherited(Location site) const;
  // Waits some seconds for pending calls, so that their errors are seen, then leaves the group.
  void leave();
  // Waits for the started calls, for some seconds at most. The group stays open.
  void settle();
  // `because_of`: the rank that caused the end; -1: unknown.
  void end(Leaving how, std::string_view why, int because_of = -1) noexcept;
  std::uint64_t calls() const;
  // The call's own timeout, else the group's.
  base::Nanoseconds timeout(const CallOptions& options) const;

 private:
  Work start_later(const std::shared_ptr<Job>& job);
  Work put_on_stream(const std::shared_ptr<Job>& job, const CallOptions& options);
  void run(Job& job);
  void wait_for_calls(std::string_view why) const;
  std::string why_over() const;
  Error over(const std::string& why, Location site) const;
  // Remembers `state` as the call that ended the group if `error` is a mismatch, which the user may never look at.
  void note_end(const std::shared_ptr<future::FutureState>& state, const std::exception_ptr& error);
  void note(const Job& job) const;

  const base::ProcessMark mark_;
  const GroupInfo info_;
  const base::Nanoseconds timeout_;
  const std::string name_;  // of the backend
  const AnyBackend backend_;
  HostBackend* const host_;    // the backend if it moves host bytes, else null
  DeviceBackend* const gpus_;  // the backend if it moves bytes on GPUs, else null
  const std::shared_ptr<CallQueue> queue_;
  core::RankState& rank_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string over_;                               // why no more calls are possible
  int over_because_of_ = -1;                       // the rank that caused it; -1: none
  std::shared_ptr<future::FutureState> ended_by_;  // its error may be unseen; null: none
  mutable std::mutex putting_;
  std::uint64_t put_ = 0;  // collectives on streams; guarded by putting_, which is held while one is put
};

}  // namespace distrun::collectives
