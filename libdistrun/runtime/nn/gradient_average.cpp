#include <distrun/runtime/nn/gradient_average.hpp>

#include <cstdio>
#include <unordered_set>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/collectives/debug_level.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

namespace distrun::nn {
namespace {

using autograd::Node;
using autograd::Ref;

// Returns all nodes that a backward pass from the outputs would reach.
std::unordered_set<const Node*> reached_from(const TensorList& outputs) {
  std::unordered_set<const Node*> reached;
  std::vector<const Node*> open;
  const auto reach = [&](const autograd::Edge& edge) {
    if (edge && reached.insert(edge.node.get()).second) open.push_back(edge.node.get());
  };
  for (const Tensor& output : outputs) reach(autograd::gradient_edge(output));
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const autograd::Edge& edge : node->next_edges()) reach(edge);
  }
  return reached;
}

TensorList tensors_of(const NamedTensors& named) {
  TensorList tensors;
  for (const auto& [name, tensor] : named) tensors.push_back(tensor);
  return tensors;
}

const char* advice(bool find_unused) {
  return find_unused ? "Since `find_unused_parameters=True` is enabled, unused parameters are handled: either not all "
                       "`forward` function outputs participate in calculating loss, or they hold tensors in "
                       "unsupported types (see runtime/future/tensors_in.hpp)"
                     : "If that is intended, set .find_unused_parameters = true (in PyTorch, passing the keyword "
                       "argument `find_unused_parameters=True`), and make sure that all `forward` function outputs "
                       "participate in calculating loss";
}

}  // namespace

GradientAverage::GradientAverage(std::shared_ptr<collectives::ProcessGroup> group, NamedTensors parameters,
                                 const BucketSizes& sizes, bool find_unused)
    : group_(std::move(group)),
      parameters_(std::move(parameters)),
      find_unused_(find_unused),
      buckets_(make_buckets(tensors_of(parameters_), sizes)),
      missing_(buckets_.size()),
      slots_(parameters_.size()) {
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    const auto& numbers = buckets_[bucket].parameters;
    for (std::size_t place = 0; place < numbers.size(); ++place) {
      slots_[numbers[place]].bucket = bucket;
      slots_[numbers[place]].place = place;
    }
  }
}

void GradientAverage::attach() {
  for (std::size_t number = 0; number < parameters_.size(); ++number) {
    accumulators_.push_back(autograd::accumulator_of(parameters_[number].second));
    hooks_.push_back(
        accumulators_.back()->add_post_hook([weak = weak_from_this(), number](TensorList results, const TensorList&) {
          if (const auto self = weak.lock()) self->take(number);
          return results;
        }));
  }
}

GradientAverage::~GradientAverage() {
  for (std::size_t i = 0; i < hooks_.size(); ++i) accumulators_[i]->remove_hook(hooks_[i]);
}

std::vector<std::size_t> GradientAverage::bucket_bytes() const {
  std::vector<std::size_t> bytes;
  for (const GradientBucket& each : buckets_) bytes.push_back(each.bytes());
  return bytes;
}

void GradientAverage::refuse_if_in_round() const {
  if (state_ != State::Round) return;
  std::string text =
      "Expected to have finished reduction in the prior iteration before the next one begins: " + unfinished() + ". " +
      advice(find_unused_);
  if (collectives::debug_level() == collectives::DebugLevel::Off) {
    text +=
        ". To get this report as soon as a backward pass ends, set the environment variable TORCH_DISTRIBUTED_DEBUG to "
        "either INFO or DETAIL";
  }
  throw Error(ErrorKind::Failed, "RuntimeError", text);
}

void GradientAverage::refuse_if_unfinished() const {
  const std::lock_guard lock(mutex_);
  refuse_if_in_round();
}

void GradientAverage::prepare(const TensorList& outputs) {
  const std::lock_guard lock(mutex_);
  refuse_if_in_round();
  state_ = State::Prepared;
  works_.clear();
  written_.clear();
  for (Slot& slot : slots_) slot.is_there = slot.is_unused = false;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    missing_[bucket] = buckets_[bucket].parameters.size();
  }
  if (find_unused_) find_unused_by(outputs);
}

void GradientAverage::find_unused_by(const TensorList& outputs) {
  const auto reached = reached_from(outputs);
  for (std::size_t number = 0; number < slots_.size(); ++number) {
    slots_[number].is_unused = reached.count(accumulators_[number].get()) == 0;
  }
}

void GradientAverage::take(std::size_t number) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::Idle) return;
  if (slots_[number].is_there) {
    throw Error(ErrorKind::Failed, "RuntimeError",
                "Expected to mark a variable ready only once: parameter " + parameters_[number].first +
                    " got another gradient before all others had arrived. A forward call's gradients are averaged "
                    "once; for more passes over it, accumulate first without averaging (no_sync())");
  }
  if (state_ == State::Prepared) begin_round();
  put(number);
  send_full_buckets();
}

void GradientAverage::begin_round() {
  state_ = State::Round;
  if (collectives::debug_level() != collectives::DebugLevel::Off) {
    autograd::at_end_of_pass([self = shared_from_this()] { self->warn_if_unfinished(); });
  }
  for (std::size_t number = 0; number < slots_.size(); ++number) {
    if (slots_[number].is_unused) put(number);
  }
}

void GradientAverage::put(std::size_t number) {
  Slot& slot = slots_[number];
  const auto& [name, parameter] = parameters_[number];
  const Tensor gradient = slot.is_unused ? Tensor() : autograd::grad(parameter);
  const Tensor& place = buckets_[slot.bucket].places[slot.place];
  if (gradient.defined() && gradient.is_sparse()) {
    throw Error(ErrorKind::Unimplemented,
                "the gradient of " + name +
                    " is sparse, but only dense gradients are averaged; create its module with dense gradients");
  }
  if (gradient.defined()) {
    tensor::copy_(place, gradient);
  } else {
    tensor::zero_(place);
  }
  if (!place.device().is_cpu()) {
    written_.push_back(std::make_shared<device::Event>());
    written_.back()->record(device::current_stream(place.device()));
  }
  slot.is_there = true;
  --missing_[slot.bucket];
}

void GradientAverage::send_full_buckets() {
  while (works_.size() < buckets_.size() && missing_[works_.size()] == 0) {
    const Tensor& flat = buckets_[works_.size()].flat;
    if (!flat.device().is_cpu()) {
      for (const auto& event : written_) event->block(device::current_stream(flat.device()));
    }
    works_.push_back(group_->all_reduce(flat, collectives::ReduceOp::Avg, {.timeout = {}, .async = true}));
  }
  if (works_.size() < buckets_.size()) return;
  if (find_unused_) send_uses();
  autograd::at_end_of_pass([self = shared_from_this()] {
    const std::lock_guard lock(self->mutex_);
    self->end_round();
  });
}

void GradientAverage::send_uses() {
  std::vector<std::uint8_t> uses;
  for (const Slot& slot : slots_) uses.push_back(slot.is_unused ? 0 : 1);
  const Tensor host = tensor::from_data(uses.data(), {static_cast<std::int64_t>(uses.size())}, {tensor::DType::U8});
  uses_ = tensor::to(host, group_->device());
  works_.push_back(group_->all_reduce(uses_, collectives::ReduceOp::Max, {.timeout = {}, .async = true}));
}

void GradientAverage::end_round() {
  state_ = State::Idle;  // also if a wait fails: a failed collective ends its group
  for (const collectives::Work& work : works_) work.wait();
  works_.clear();
  std::vector<std::uint8_t> uses(slots_.size(), 1);
  if (find_unused_) uses = tensor::to_vector<std::uint8_t>(uses_);
  for (std::size_t number = 0; number < slots_.size(); ++number) write_back(number, uses[number] != 0);
}

void GradientAverage::write_back(std::size_t number, bool is_used) {
  if (!is_used) return;
  const Tensor& parameter = parameters_[number].second;
  const Tensor& place = buckets_[slots_[number].bucket].places[slots_[number].place];
  const Tensor gradient = autograd::grad(parameter);
  if (gradient.defined()) {
    tensor::copy_(gradient, place);
  } else {
    autograd::set_grad(parameter, tensor::clone(place));
  }
}

std::string GradientAverage::unfinished() const {
  std::string text = "on rank " + std::to_string(group_->rank()) + " these parameters have no gradient:";
  const char* between = " ";
  for (std::size_t number = 0; number < slots_.size(); ++number) {
    if (slots_[number].is_there) continue;
    text += between + parameters_[number].first + " (number " + std::to_string(number) + ")";
    between = ", ";
  }
  return text;
}

void GradientAverage::warn_if_unfinished() const {
  const std::lock_guard lock(mutex_);
  if (state_ != State::Round || works_.size() >= buckets_.size()) return;
  std::fprintf(stderr, "data parallel: a backward pass has ended, and %s. %s\n", unfinished().c_str(),
               advice(find_unused_));
}

}  // namespace distrun::nn
