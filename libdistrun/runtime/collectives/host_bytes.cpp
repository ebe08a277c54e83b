#include <distrun/runtime/collectives/host_bytes.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::collectives {
namespace {

std::size_t size_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor::size_of(tensor.dtype());
}

bool is_plain(const Tensor& tensor) { return tensor.device().is_cpu() && tensor.is_contiguous(); }

Tensor host_copy(const Tensor& tensor) { return tensor::contiguous(tensor::to(tensor, device::kCpu)); }

}  // namespace

ConstBytes HostBytes::read(const Tensor& tensor) {
  const Tensor& host = kept_.emplace_back(is_plain(tensor) ? tensor : host_copy(tensor));
  return {host.data(), size_of(host)};
}

Bytes HostBytes::prepare(const Tensor& tensor, bool with_elements) {
  written_.push_back(tensor);
  tensor.bump_version();
  if (is_plain(tensor)) return {tensor.data(), size_of(tensor)};
  Copy made{tensor, {}, nullptr};
  made.copy = with_elements ? host_copy(tensor) : tensor::empty(tensor.sizes(), {tensor.dtype(), device::kCpu});
  if (!tensor.device().is_cpu()) {
    made.free = std::make_shared<device::Event>();
    made.free->record(device::current_stream(tensor.device()));
  }
  copies_.push_back(made);
  return {made.copy.data(), size_of(made.copy)};
}

void HostBytes::put_back() {
  for (const Copy& each : copies_) {
    if (each.free != nullptr) {
      const device::Stream stream = device::current_stream(each.target.device());
      each.free->block(stream);
      each.target.record_stream(stream);
    }
    tensor::copy_(each.target, each.copy);
  }
}

std::vector<device::Device> HostBytes::gpus() const {
  std::vector<device::Device> all;
  for (const Tensor& tensor : written_) {
    const device::Device at = tensor.device();
    if (!at.is_cpu() && std::find(all.begin(), all.end(), at) == all.end()) all.push_back(at);
  }
  return all;
}

}  // namespace distrun::collectives
