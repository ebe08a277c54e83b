#pragma once
// A group of ranks that call collectives together: each rank of the group calls the same ones in the same order, with
// tensors of the same dtype and number of elements. If ranks differ, the error says at once which rank calls what.
//
//   const auto group = distrun::init_process_group(rank);
//   group->all_reduce(gradient, ReduceOp::Avg);                        // returns when it is done
//   const Work work = group->all_reduce(next, ReduceOp::Sum, {.async = true});
//   work.wait();
//
// Ranks are named by their group rank, 0 .. size() - 1. Every dense tensor is allowed: contiguous or not, empty, of any
// dtype, on any device. GPU tensors are read after the work on the calling thread's current stream, and a wait for the
// call orders the current stream after the writes; the host need not wait.
//
// With backend nccl all tensors of a call are on one GPU, and the host waits only in barriers and in waits with a
// timeout. Errors are thrown by the next wait for the work, or by the next call. Point-to-point messages have no tags
// there.
//
// Thread-safe; use one thread at a time if the order of calls matters. Errors:
//
//   Error{InvalidArgument, "ValueError"}         this rank's arguments are wrong; the other ranks do not see the call
//   Error{InvalidArgument, "DistBackendError"}   the ranks' calls differ
//   Error{Timeout, "DistBackendError"}           it took longer than the call's timeout, or the group's
//   base::PeerFailed                             a required rank has failed, died, or left the group
//   Error{Cancelled, "DistBackendError"}         this rank aborted the group
//   Error{Failed}                                the process was forked from the group's, and cannot use or end it
//
// Except for the first and the last, a failed collective ends the group, since the ranks may no longer agree on the
// next call. The other ranks get the reason at their next call, and can create a new group. Failed point-to-point
// messages do not end the group, except with nccl.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/work.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// Returns the backend of groups that name none: "shm"; "gloo" if the ranks of the test run on several hosts.
std::string default_backend();

// Options of a group. All its ranks use the same backend.
struct GroupOptions {
  std::string backend = default_backend();               // "shm", "threads", "gloo", "nccl", or one that is registered
  base::Nanoseconds timeout = std::chrono::minutes(30);  // of each call that sets none
  std::optional<device::Device> gpu{};  // default: the rank's with nccl, else by rank number modulo their count
};

using Splits = std::vector<std::int64_t>;  // sizes along the first dimension, one for each rank; empty: equal

class CallEngine;
struct Job;

// A rank's end of a group. Collectives block until they are done, unless CallOptions::async is set; see the top of this
// header for their errors. Thread-safe.
class ProcessGroup {
 public:
  using Location = base::Location;  // the caller's line, for errors and waits

  // Meets the other ranks in `store` and returns when all have arrived. Each group needs its own store (a PrefixStore).
  ProcessGroup(GroupInfo info, std::shared_ptr<Store> store, GroupOptions options);
  // Creates a group of some ranks of `parent`, to reuse its resources. All ranks of `parent` must call this or
  // stay_out(). `colour` is the same for the ranks of one new group.
  ProcessGroup(GroupInfo info, std::shared_ptr<Store> store, GroupOptions options, ProcessGroup& parent, int colour);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const noexcept { return info_.rank; }                          // this rank's group rank
  int size() const noexcept { return info_.size(); }                        // ranks of the group
  const std::string& name() const noexcept { return info_.name; }           // unique among the groups of a store
  const std::string& backend() const noexcept { return options_.backend; }  // of GroupOptions
  const std::vector<int>& ranks() const noexcept { return info_.ranks; }    // world ranks, by group rank
  base::Nanoseconds timeout() const noexcept { return options_.timeout; }   // of calls that set none
  const GroupInfo& info() const noexcept { return info_; }                  // name and ranks
  const GroupOptions& options() const noexcept { return options_; }         // as passed to the constructor
  const std::shared_ptr<Store>& store() const;                              // private to the group
  // Returns the default device for the group's tensors: with nccl the rank's GPU, else the CPU.
  device::Device device() const;
  // Returns the timeout to pass to Work::wait() before the host reads results: with nccl the host itself must wait.
  std::optional<base::Nanoseconds> host_wait() const;
  // Returns the number of the last collective that this rank has called.
  std::uint64_t sequence_number() const;

  // Returns the number of the monitored_barrier() that this rank begins.
  std::uint64_t next_monitored_barrier() noexcept { return monitored_barriers_.fetch_add(1); }

  // Sends the root's elements to all ranks.
  Work broadcast(const Tensor& tensor, int root = 0, CallOptions options = {}, Location site = Location::here());
  // Reduces the tensors of all ranks, elementwise, to all ranks.
  Work all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::Sum, CallOptions options = {},
                  Location site = Location::here());
  // Reduces the tensors of all ranks to the root; only its tensor changes.
  Work reduce(const Tensor& tensor, int root = 0, ReduceOp op = ReduceOp::Sum, CallOptions options = {},
              Location site = Location::here());
  // Reduces several tensors of one dtype in one call.
  Work all_reduce_coalesced(const TensorList& tensors, ReduceOp op = ReduceOp::Sum, CallOptions options = {},
                            Location site = Location::here());
  // Gathers each rank's tensor on all ranks: outputs[rank] is that rank's input.
  Work all_gather(const TensorList& outputs, const Tensor& input, CallOptions options = {},
                  Location site = Location::here());
  // Gathers each rank's tensor on all ranks in one tensor, concatenated along the first dimension in the order of
  // ranks.
  Work all_gather_into(const Tensor& output, const Tensor& input, CallOptions options = {},
                       Location site = Location::here());
  // Gathers several tensors, of any dtypes, in one call. outputs[rank][i] is inputs[i] of that rank.
  Work all_gather_coalesced(const std::vector<TensorList>& outputs, const TensorList& inputs, CallOptions options = {},
                            Location site = Location::here());
  // Gathers each rank's tensor on the root, which alone has outputs.
  Work gather(const TensorList& outputs, const Tensor& input, int root = 0, CallOptions options = {},
              Location site = Location::here());
  // Sends one tensor of the root, which alone has inputs, to each rank.
  Work scatter(const Tensor& output, const TensorList& inputs, int root = 0, CallOptions options = {},
               Location site = Location::here());
  // Gives each rank the reduction of inputs[rank] of all ranks.
  Work reduce_scatter(const Tensor& output, const TensorList& inputs, ReduceOp op = ReduceOp::Sum,
                      CallOptions options = {}, Location site = Location::here());
  // Is reduce_scatter() with inputs that are the equal parts of one tensor along the first dimension.
  Work reduce_scatter_from(const Tensor& output, const Tensor& input, ReduceOp op = ReduceOp::Sum,
                           CallOptions options = {}, Location site = Location::here());
  // Sets outputs[rank] to inputs[this rank] of that rank.
  Work all_to_all(const TensorList& outputs, const TensorList& inputs, CallOptions options = {},
                  Location site = Location::here());
  // Is all_to_all() with pieces of one tensor along the first dimension, of the given sizes.
  Work all_to_all_single(const Tensor& output, const Tensor& input, Splits output_splits = {}, Splits input_splits = {},
                         CallOptions options = {}, Location site = Location::here());
  // Finishes when all ranks have called it.
  Work barrier(CallOptions options = {}, Location site = Location::here());

  // Sends to a rank. A small message is done when it is in flight, a large one when it has been received. Messages of
  // one sender with one tag arrive in the order in which they were sent.
  Work send(const Tensor& tensor, int to, std::uint64_t tag = 0, CallOptions options = {},
            Location site = Location::here());
  // Receives the next message of that rank with that tag, of the tensor's dtype and number of elements.
  Work receive(const Tensor& tensor, int from, std::uint64_t tag = 0, CallOptions options = {},
               Location site = Location::here());
  // Receives from any rank that sends with this tag; Work::source_rank() names it.
  Work receive_from_any(const Tensor& tensor, std::uint64_t tag = 0, CallOptions options = {},
                        Location site = Location::here());

  // Returns how many groups of its ranks were requested before. Each rank counts, so ranks that create the same groups
  // in the same order give them the same names, even if calls fail in between.
  int count_child() noexcept { return children_++; }
  // See the constructor with `parent`.
  void stay_out();
  // Ends the group at once: active calls fail, on this rank and on ranks that wait for it.
  void abort(const std::string& why = "it was aborted");
  // Makes no more calls; ranks that wait for this one are notified. Also done at the end of the test.
  void leave();
  // Waits for the started calls, for some seconds at most. Called at the end of a test that does not leave the group.
  void settle();
  // Called if the group stays open beyond the test; see Backend::prepare_to_stay().
  void prepare_to_stay() noexcept;

 private:
  ProcessGroup(GroupInfo info, std::shared_ptr<Store> store, GroupOptions options, ProcessGroup* parent, int colour);
  Work all_reduce_packed(const std::shared_ptr<Job>& job, const TensorList& tensors, ReduceOp op,
                         const CallOptions& options, Location site);
  Work receive_some(const Tensor& tensor, int from, std::uint64_t tag, const CallOptions& options, Location site);

  const GroupInfo info_;
  const std::shared_ptr<Store> store_;
  const GroupOptions options_;
  const std::shared_ptr<CallEngine> engine_;
  std::atomic<std::uint64_t> monitored_barriers_{0};  // number of the last one begun
  std::atomic<int> children_{0};
};

}  // namespace distrun::collectives

namespace distrun {
using collectives::GroupOptions;
using collectives::ProcessGroup;
}  // namespace distrun
