#include <distrun/runtime/autograd/leaf_sink.hpp>

#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient_fit.hpp>
#include <distrun/runtime/autograd/gradient_streams.hpp>

namespace distrun::autograd {

void GradientMap::take(const Tensor& leaf, Tensor gradient) {
  const std::lock_guard lock(mutex_);
  // This handle shows the next leaf that gets the same gradient that the gradient is shared.
  if (gradient.impl()->use_count() > 1) shared_.push_back(gradient);
  const auto [place, is_new] = places_.try_emplace(leaf.impl(), entries_.size());
  if (is_new) entries_.push_back({leaf, Tensor()});
  Entry& entry = entries_[place->second];
  if (entry.gradient.defined() && !has_no_other_stream(entry.gradient)) {
    entry.gradient = sum_of(std::move(entry.gradient), std::move(gradient));  // its readers may still run
  } else {
    accumulate_into(entry.gradient, std::move(gradient), leaf);
  }
  if (leaf.device().is_cpu()) return;
  const Stream stream = device::current_stream(leaf.device());
  written_[stream].record(stream);
}

void GradientMap::end_pass() {
  const std::lock_guard lock(mutex_);
  shared_.clear();
}

std::vector<GradientMap::Entry> GradientMap::entries() const {
  const std::lock_guard lock(mutex_);
  wait_for_gradients();
  return entries_;
}

Tensor GradientMap::find(const Tensor& leaf) const {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(leaf.impl());
  if (place == places_.end()) return {};
  wait_for_gradients();
  return entries_[place->second].gradient;
}

std::size_t GradientMap::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void GradientMap::wait_for_gradients() const {
  for (const auto& [stream, event] : written_) {
    const Stream current = device::current_stream(stream.device());
    if (current == stream) continue;
    event.block(current);
    for (const Entry& entry : entries_) {
      if (entry.gradient.device() == stream.device()) entry.gradient.record_stream(current);
    }
  }
}

void bring_to_leaf(AccumulateGrad& leaf, Gradients gradients, LeafSink* sink) {
  if (!gradients[0].defined()) return;
  if (sink != nullptr) {
    sink->take(leaf.variable(), std::move(gradients[0]));
  } else if (is_grad_enabled()) {
    accumulate_recorded(leaf, gradients[0]);
  } else {
    leaf.apply(std::move(gradients));
  }
}

}  // namespace distrun::autograd
