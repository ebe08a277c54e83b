#pragma once
// Averages gradients over the ranks of a group during a backward pass. Independent of modules: data_parallel.hpp
// connects them.
//
//   idle        gradients are ignored: before the first prepare(), and after a round
//   prepared    the next gradients will be averaged; the first one begins the round
//   in a round  each computed gradient goes into its bucket; a full bucket is reduced during the pass, in the order
//               of the buckets, which is the same on all ranks. At the end of the pass, waits for all buckets and
//               writes the averages into grad(): idle. A round may take several passes, as for two losses; a prepare()
//               before its end throws and lists the parameters without a gradient.
//
// Hooks run on the pass's thread, and hold a lock while they work; the group's calls are asynchronous.
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

// One rank's part; each rank of the group creates one, for equal parameters.
class GradientAverage : public std::enable_shared_from_this<GradientAverage> {
 public:
  // `parameters` are leaves that need gradients. The group is called in the order of the passes; it must not be used
  // otherwise meanwhile if the ranks' orders could differ.
  GradientAverage(std::shared_ptr<collectives::ProcessGroup> group, NamedTensors parameters, const BucketSizes& sizes,
                  bool find_unused);
  ~GradientAverage();
  GradientAverage(const GradientAverage&) = delete;
  GradientAverage& operator=(const GradientAverage&) = delete;

  // Call once, when a std::shared_ptr owns this object.
  void attach();
  // Announces a loss computed from `outputs`. With `find_unused`, parameters that the outputs do not depend on
  // contribute zeros, and a parameter that no rank uses keeps its gradient. Throws what refuse_if_unfinished() throws.
  void prepare(const TensorList& outputs);
  // Throws Error{Failed, "RuntimeError"} with the missing gradients if a round has not ended.
  void refuse_if_unfinished() const;

  std::vector<std::size_t> bucket_bytes() const;

 private:
  enum class State : std::uint8_t { Idle, Prepared, Round };
  struct Slot {
    std::size_t bucket = 0, place = 0;
    bool is_there = false;
    bool is_unused = false;  // on this rank
  };

  void take(std::size_t number);  // a gradient was computed
  void warn_if_unfinished() const;
  // Called with mutex_ held:
  void refuse_if_in_round() const;
  void begin_round();
  void put(std::size_t number);  // copies it into its bucket
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

  mutable std::mutex mutex_;  // guards the following members
  State state_ = State::Idle;
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> missing_;  // number of missing gradients per bucket
  std::vector<Slot> slots_;           // by parameter
  std::vector<collectives::Work> works_;
  std::vector<std::shared_ptr<device::Event>> written_;  // events of writes to GPU buckets that are not in flight yet
  Tensor uses_;                                          // by parameter: 1 if any rank uses it
};

}  // namespace distrun::nn
