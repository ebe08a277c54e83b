#pragma once
// A group of ranks that call collectives together: each rank of the group calls the same ones in the same order, with
// tensors of the same dtype and number of elements. Ranks that do not are told at once who calls what.
//
//   const auto group = distrun::init_process_group(rank);
//   group->all_reduce(gradient, ReduceOp::Avg);                        // returns when it is done
//   const Work work = group->all_reduce(next, ReduceOp::Sum, {.async = true});
//   work.wait();
//
// A rank is named by its place in the group, 0 .. size() - 1. Any dense tensor will do: with or without holes, without
// elements, of all dtypes, on any device. Those on GPUs are read after what is on the calling thread's current stream,
// and who waits for the work gets them behind what wrote them; no host need wait.
//
// With backend nccl all tensors of a call are on one GPU, and no host waits at all, but in barriers and where a wait
// has a timeout: what goes wrong is thrown by the next wait for the work, or by the next call. Letters have no tags
// there.
//
// Any thread; one at a time, if the order is to be known. Errors:
//
//   Error{InvalidArgument, "ValueError"}         this rank's arguments are wrong; nobody else knows of the call
//   Error{InvalidArgument, "DistBackendError"}   the ranks do not call the same
//   Error{Timeout, "DistBackendError"}           it took longer than the call's timeout, or the group's
//   base::PeerFailed                             a rank that is needed has failed, died, or left the group
//   Error{Cancelled, "DistBackendError"}         the group was aborted, here
//   Error{Failed}                                the process was forked from the one that is in the group: it can use
//                                                none of its functions, and what it does with it ends nothing
//
// But for the first and the last, a collective that fails ends the group: ranks may no longer agree on what comes next.
// The others are told why, at their next call, and a new group works. Letters that fail end nothing, but with nccl.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/work.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

struct GroupOptions {
  std::string backend = "shm";
  base::Nanoseconds timeout = std::chrono::minutes(30);
  std::optional<device::Device> gpu{};  // the rank's, with nccl; else the one of its number, by the number of GPUs
};

using Splits = std::vector<std::int64_t>;  // sizes along the first dimension, one for each rank; none: equal ones

class CallEngine;
struct Job;

class ProcessGroup {
 public:
  using Location = base::Location;

  // Meets the other ranks in `store`, of which each group needs its own (a PrefixStore), and returns when all are
  // there.
  ProcessGroup(GroupInfo info, std::shared_ptr<Store> store, GroupOptions options);
  // Of some ranks of another group, all of which make one with that one as `parent` now, or call stay_out(): whatever
  // can be had from it need not be made. `colour`: the same for those that are in one group.
  ProcessGroup(GroupInfo info, std::shared_ptr<Store> store, GroupOptions options, ProcessGroup& parent, int colour);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const noexcept { return info_.rank; }
  int size() const noexcept { return info_.size(); }
  const std::string& name() const noexcept { return info_.name; }
  const std::string& backend() const noexcept { return options_.backend; }
  const std::vector<int>& ranks() const noexcept { return info_.ranks; }  // by place, as the runner counts them
  base::Nanoseconds timeout() const noexcept { return options_.timeout; }
  const GroupInfo& info() const noexcept { return info_; }
  const GroupOptions& options() const noexcept { return options_; }
  const std::shared_ptr<Store>& store() const;  // the group's own
  // Where tensors for it belong that could be anywhere: with nccl the rank's GPU, else the CPU.
  device::Device device() const;
  // For Work::wait(), before the host looks at what a call has brought: with nccl it must wait itself, for as long as
  // that may take.
  std::optional<base::Nanoseconds> host_wait() const;
  // Collectives that this rank has called: the number of the last one.
  std::uint64_t sequence_number() const;

  // The number of a monitored_barrier() that this rank begins.
  std::uint64_t next_monitored_barrier() noexcept { return monitored_barriers_.fetch_add(1); }

  // The root's elements, to all.
  Work broadcast(const Tensor& tensor, int root = 0, CallOptions options = {}, Location site = Location::here());
  // Of all ranks, to all; to the root, whose tensor alone changes.
  Work all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::Sum, CallOptions options = {},
                  Location site = Location::here());
  Work reduce(const Tensor& tensor, int root = 0, ReduceOp op = ReduceOp::Sum, CallOptions options = {},
              Location site = Location::here());
  // Several tensors of one dtype as one.
  Work all_reduce_coalesced(const TensorList& tensors, ReduceOp op = ReduceOp::Sum, CallOptions options = {},
                            Location site = Location::here());
  // Each rank's tensor, to all: as a list, or one after the other in one tensor.
  Work all_gather(const TensorList& outputs, const Tensor& input, CallOptions options = {},
                  Location site = Location::here());
  Work all_gather_into(const Tensor& output, const Tensor& input, CallOptions options = {},
                       Location site = Location::here());
  // Several tensors as one; of any dtypes. outputs[rank][i] is what that rank has as inputs[i].
  Work all_gather_coalesced(const std::vector<TensorList>& outputs, const TensorList& inputs, CallOptions options = {},
                            Location site = Location::here());
  // To the root, which alone has outputs.
  Work gather(const TensorList& outputs, const Tensor& input, int root = 0, CallOptions options = {},
              Location site = Location::here());
  // Of the root, which alone has inputs, one to each.
  Work scatter(const Tensor& output, const TensorList& inputs, int root = 0, CallOptions options = {},
               Location site = Location::here());
  // inputs[rank] of all, reduced, is that rank's output; the inputs as a list, or one after the other in one tensor.
  Work reduce_scatter(const Tensor& output, const TensorList& inputs, ReduceOp op = ReduceOp::Sum,
                      CallOptions options = {}, Location site = Location::here());
  Work reduce_scatter_from(const Tensor& output, const Tensor& input, ReduceOp op = ReduceOp::Sum,
                           CallOptions options = {}, Location site = Location::here());
  // outputs[rank] is what that rank has as inputs[this rank]; or pieces of one tensor each, along the first dimension.
  Work all_to_all(const TensorList& outputs, const TensorList& inputs, CallOptions options = {},
                  Location site = Location::here());
  Work all_to_all_single(const Tensor& output, const Tensor& input, Splits output_splits = {}, Splits input_splits = {},
                         CallOptions options = {}, Location site = Location::here());
  // Returns, or is done, when all have called it.
  Work barrier(CallOptions options = {}, Location site = Location::here());

  // A small one is done when it is on its way, a large one when it has been received. Letters of one sender with one
  // tag come in the order in which they were sent.
  Work send(const Tensor& tensor, int to, std::uint64_t tag = 0, CallOptions options = {},
            Location site = Location::here());
  Work receive(const Tensor& tensor, int from, std::uint64_t tag = 0, CallOptions options = {},
               Location site = Location::here());
  // Whoever has sent one with that tag: Work::source_rank().
  Work receive_from_any(const Tensor& tensor, std::uint64_t tag = 0, CallOptions options = {},
                        Location site = Location::here());

  // Returns how many groups of its ranks were asked for before. Each rank counts: those that make the same groups in
  // the same order give them the same names, whatever fails afterwards.
  int count_child() noexcept { return children_++; }
  // See the constructor.
  void stay_out();
  // Ends the group at once, for this rank and for those that wait for it: what is under way fails.
  void abort(const std::string& why = "it was aborted");
  // No call comes any more; others that wait for this rank are told. Also done at the end of the test.
  void leave();
  // Waits for the calls that were started, for some seconds at most. At the end of a test that does not leave the
  // group.
  void settle();
  // It stays open beyond the test: what it would open later is opened now (Backend::prepare_to_stay()).
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
  std::atomic<std::uint64_t> monitored_barriers_{0};  // begun
  std::atomic<int> children_{0};
};

}  // namespace distrun::collectives

namespace distrun {
using collectives::GroupOptions;
using collectives::ProcessGroup;
}  // namespace distrun
