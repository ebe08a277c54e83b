#include <distrun/runtime/rpc/devices/packing.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/memory/allocator.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::rpc {
namespace {

using StorageRef = tensor::Ref<tensor::Storage>;

// CPU tensors stay on the CPU unless the map contains it.
device::Device mapped_device(device::Device device, const DeviceMap& map, bool is_call, const std::string& to) {
  const auto found = map.find(device);
  if (found != map.end()) return found->second;
  if (device.is_cpu()) return device;
  throw Error(
      ErrorKind::InvalidArgument, "RuntimeError",
      "TensorPipe RPC backend only supports CPU tensors by default, please move your tensors to CPU before "
      "sending them over RPC, or call `set_device_map` on `TensorPipeRpcBackendOptions` to explicitly configure "
      "device mapping. " +
          std::string(is_call ? "Request" : "Response") + " device mapping is not available for destination " + to +
          ": " + device::to_string(device) + " has none");
}

// Copies a span to the host, in stream order.
StorageRef stage(const Span& span) {
  StorageRef host = tensor::Storage::adopt(device::allocate_pinned(span.bytes()));
  const device::Stream stream = device::current_stream(span.storage->device());
  stream.driver().copy(stream.ref(), host->data(), span.data(), span.bytes());
  return host;
}

// Packs one message.
class Packer {
 public:
  Packer(const TensorList& tensors, const DeviceMap& map, const std::string& to, bool is_call, const CanRead& can_read)
      : tensors_(tensors), spans_(spans_of(tensors)), places_(spans_.spans.size()) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const device::Device target = mapped_device(tensors[i].device(), map, is_call, to);
      packed_.section.tensors.push_back({sent(target), kByHost, {}});
      Place& place = places_[spans_.shapes[i].span];
      const Span& span = spans_.spans[spans_.shapes[i].span];
      const bool is_on_gpu = !span.storage->device().is_cpu();
      place.is_apart = is_on_gpu && !target.is_cpu() && span.bytes() > 0 && can_read(span.storage->device());
      place.target = target;
    }
  }

  // Returns the tensors that the message keeps.
  TensorList run() {
    for (std::size_t i = 0; i < places_.size(); ++i) settle(spans_.spans[i], places_[i]);
    for (const device::Stream stream : staging_) stream.synchronize();
    TensorList by_host;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const TensorShape& shape = spans_.shapes[i];
      const Place& place = places_[shape.span];
      if (place.is_apart) {
        packed_.section.tensors[i].span = place.number;
        packed_.section.tensors[i].shape = sent(shape);
      } else {
        by_host.push_back(place.staged.get() == nullptr ? tensors_[i] : tensor_in(place.staged, shape));
      }
    }
    return by_host;
  }

  PackedTensors take() { return std::move(packed_); }

 private:
  struct Place {
    bool is_apart = false;
    device::Device target;
    std::int32_t number = kByHost;  // among the spans that stay on their devices
    StorageRef staged;              // null: the span is on the CPU
  };

  void settle(const Span& span, Place& place) {
    if (place.is_apart) {
      place.number = static_cast<std::int32_t>(packed_.apart.size());
      packed_.apart.push_back(span);
      SentSpan sent_span;
      sent_span.bytes = span.bytes();
      sent_span.device = span.storage->device().index;
      sent_span.target = sent(place.target);
      packed_.section.spans.push_back(std::move(sent_span));
    } else if (!span.storage->device().is_cpu()) {
      stage_span(span, place);
    }
  }

  void stage_span(const Span& span, Place& place) {
    packed_.staged_bytes += span.bytes();
    if (span.bytes() == 0) {
      place.staged = tensor::Storage::make(device::kCpu, 0);
      return;
    }
    place.staged = stage(span);
    const device::Stream stream = device::current_stream(span.storage->device());
    if (std::find(staging_.begin(), staging_.end(), stream) == staging_.end()) staging_.push_back(stream);
  }

  const TensorList& tensors_;
  TensorSpans spans_;
  std::vector<Place> places_;
  std::vector<device::Stream> staging_;
  PackedTensors packed_;
};

// Copies through pinned memory, which is cached: for other memory a driver uses a staging buffer, and blocks.
StorageRef to_device(const Span& span, device::Device target) {
  StorageRef there = tensor::Storage::make(target, span.bytes());
  if (span.bytes() == 0) return there;
  const std::unique_ptr<device::Memory> pinned = device::allocate_pinned(span.bytes());
  std::memcpy(pinned->data(), span.data(), span.bytes());
  const device::Stream stream = device::current_stream(target);
  stream.driver().copy(stream.ref(), there->data(), pinned->data(), span.bytes());
  pinned->record_stream(stream);
  return there;
}

// Copies the message's tensors that belong on GPUs.
TensorList moved(const TensorList& tensors, const std::vector<device::Device>& targets) {
  const auto is_gpu = [](device::Device each) { return !each.is_cpu(); };
  if (std::none_of(targets.begin(), targets.end(), is_gpu)) return tensors;
  const TensorSpans spans = spans_of(tensors);
  std::vector<StorageRef> storages(spans.spans.size());
  TensorList all;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (targets[i].is_cpu()) {
      all.push_back(tensors[i]);
      continue;
    }
    const TensorShape& shape = spans.shapes[i];
    StorageRef& storage = storages[shape.span];
    if (storage.get() == nullptr) storage = to_device(spans.spans[shape.span], targets[i]);
    all.push_back(tensor_in(storage, shape));
  }
  return all;
}

}  // namespace

PackedTensors pack_tensors(Message& message, const DeviceMap& map, const std::string& to, const CanRead& can_read) {
  const bool is_call = message.kind == MessageKind::Call;
  Packer packer(message.tensors, map, to, is_call, can_read);
  TensorList by_host = packer.run();
  message.tensors = std::move(by_host);
  PackedTensors packed = packer.take();
  if (is_call) {
    for (const auto& [from, there] : map) packed.section.map.push_back({sent(from), sent(there)});
  }
  return packed;
}

void unpack_tensors(Message& message, const SentDevices& section, const std::vector<StorageRef>& copies) {
  std::vector<device::Device> targets;
  for (const SentTensor& each : section.tensors) {
    if (each.span == kByHost) targets.push_back(received(each.target));
  }
  if (targets.size() != message.tensors.size()) {
    throw Error(ErrorKind::InvalidArgument, "a message tells the devices of other tensors than it has");
  }
  const TensorList by_host = moved(message.tensors, targets);
  TensorList all;
  std::size_t next = 0;
  for (const SentTensor& each : section.tensors) {
    if (each.span == kByHost) {
      all.push_back(by_host[next++]);
      continue;
    }
    if (each.span < 0 || static_cast<std::size_t>(each.span) >= copies.size()) {
      throw Error(ErrorKind::InvalidArgument, "a message has a tensor in memory that is not there");
    }
    const auto span = static_cast<std::uint32_t>(each.span);
    all.push_back(tensor_in(copies[span], received(each.shape, span)));
  }
  message.tensors = std::move(all);
}

}  // namespace distrun::rpc
