#include <distrun/runtime/collectives/call_bytes.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::collectives {
namespace {

std::size_t size_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor::size_of(tensor.dtype());
}

}  // namespace

bool CallBytes::is_plain(const Tensor& tensor) const {
  return (where_ == Where::Gpu || tensor.device().is_cpu()) && tensor.is_contiguous();
}

Tensor CallBytes::copy_of(const Tensor& tensor) const {
  return tensor::contiguous(where_ == Where::Gpu ? tensor : tensor::to(tensor, device::kCpu));
}

ConstBytes CallBytes::read(const Tensor& tensor) {
  const Tensor& plain = kept_.emplace_back(is_plain(tensor) ? tensor : copy_of(tensor));
  return {plain.data(), size_of(plain)};
}

void CallBytes::add_written(const Tensor& tensor) {
  written_.push_back(tensor);
  tensor.bump_version();
}

Bytes CallBytes::prepare(const Tensor& tensor, bool with_elements) {
  add_written(tensor);
  if (is_plain(tensor)) return {tensor.data(), size_of(tensor)};
  Copy made{tensor, {}, nullptr};
  const device::Device at = where_ == Where::Gpu ? tensor.device() : device::kCpu;
  made.copy = with_elements ? copy_of(tensor) : tensor::empty(tensor.sizes(), {tensor.dtype(), at});
  if (where_ == Where::Host && !tensor.device().is_cpu()) {
    made.free = std::make_shared<device::Event>();
    made.free->record(device::current_stream(tensor.device()));
  }
  copies_.push_back(made);
  return {made.copy.data(), size_of(made.copy)};
}

void CallBytes::put_back() {
  for (const Copy& each : copies_) {
    if (each.free != nullptr) {
      const device::Stream stream = device::current_stream(each.target.device());
      each.free->block(stream);
      each.target.record_stream(stream);
    }
    tensor::copy_(each.target, each.copy);
  }
}

std::vector<device::Device> CallBytes::gpus() const {
  std::vector<device::Device> all;
  for (const Tensor& tensor : written_) {
    const device::Device at = tensor.device();
    if (!at.is_cpu() && std::find(all.begin(), all.end(), at) == all.end()) all.push_back(at);
  }
  return all;
}

TensorList CallBytes::touched() const {
  TensorList all = kept_;
  all.insert(all.end(), written_.begin(), written_.end());
  for (const Copy& each : copies_) all.push_back(each.copy);
  return all;
}

}  // namespace distrun::collectives
