#pragma once
// Averages the gradients of some parameters over the ranks of a group, while a backward pass goes on. It knows nothing
// of modules: data_parallel.hpp does.
//
//   idle        gradients are left alone: before the first prepare(), and once a pass is over
//   prepared    the next gradients are to be averaged; the first one begins the round
//   in a round  each gradient that is there goes into its bucket; a bucket that is full is reduced, in the order of the
//               buckets, which is the same on all ranks, beside the pass. When the pass ends, all buckets are waited
//               for and the averages written into grad(): idle. A round may need several passes, as for two losses; who
//               prepares the next one before it has ended is told which parameters have no gradient.
//
// Hooks run on whatever thread a pass runs on, and a lock is held while they work; the group's calls are asynchronous.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/nn/gradient_buckets.hpp>

namespace distrun::nn {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// Of one rank; each rank of the group makes one, for parameters that are alike.
class GradientAverage : public std::enable_shared_from_this<GradientAverage> {
 public:
  // Leaves that need gradients. The group is called in the order of the passes; nobody else may call it meanwhile, if
  // the ranks' orders could differ.
  GradientAverage(std::shared_ptr<collectives::ProcessGroup> group, NamedTensors parameters, const BucketSizes& sizes,
                  bool find_unused);
  ~GradientAverage();
  GradientAverage(const GradientAverage&) = delete;
  GradientAverage& operator=(const GradientAverage&) = delete;

  // Once, by who holds it.
  void attach();
  // The loss will be made of `outputs`; with `find_unused`, parameters that those do not depend on count as there, with
  // zeros, and one that no rank uses keeps the gradient that it has. Throws what refuse_if_unfinished() throws.
  void prepare(const TensorList& outputs);
  // Throws Error{Failed, "RuntimeError"} if a round has not ended, with what is missing.
  void refuse_if_unfinished() const;

  std::vector<std::size_t> bucket_bytes() const;

 private:
  enum class State : std::uint8_t { Idle, Prepared, Round };
  struct Slot {
    std::size_t bucket = 0, place = 0;
    bool is_there = false;
    bool is_unused = false;  // by this rank
  };

  void take(std::size_t number);  // a gradient is there
  void warn_if_unfinished() const;
  // With mutex_ held:
  void refuse_if_in_round() const;
  void begin_round();
  void put(std::size_t number);  // into its bucket
  void send_full_buckets();
  void send_uses();
  void find_unused_by(const TensorList& outputs);
  std::string unfinished() const;
  void end_round();
  void write_back(std::size_t number, bool is_used);

  // Constant after construction.
  const std::shared_ptr<collectives::ProcessGroup> group_;
  const NamedTensors parameters_;
  const bool find_unused_;
  std::vector<autograd::Ref<autograd::Node>> accumulators_;  // by parameter
  std::vector<autograd::HookId> hooks_;

  mutable std::mutex mutex_;  // guards what follows
  State state_ = State::Idle;
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> missing_;  // gradients of each bucket that are not there yet
  std::vector<Slot> slots_;           // by parameter
  std::vector<collectives::Work> works_;
  std::vector<std::shared_ptr<device::Event>> written_;  // places of GPUs' buckets that are not under way yet
  Tensor uses_;                                          // by parameter: 1 if a rank uses it
};

}  // namespace distrun::nn
