#include <distrun/runtime/future/value_streams.hpp>

#include <algorithm>
#include <iterator>
#include <set>

#include <distrun/common/base/error.hpp>

namespace distrun::future {
namespace {

template <class Devices>
std::string join(const Devices& devices) {
  std::string text;
  for (const device::Device device : devices) text += (text.empty() ? "" : ", ") + to_string(device);
  return text;
}

std::set<device::Device> devices_of(const TensorList& tensors) {
  std::set<device::Device> devices;
  for (const Tensor& tensor : tensors) devices.insert(tensor.device());
  return devices;
}

void check_expected(const std::set<device::Device>& found, const std::vector<device::Device>& expected) {
  std::vector<device::Device> foreign;
  std::ranges::copy_if(found, std::back_inserter(foreign),
                       [&](device::Device device) { return std::ranges::find(expected, device) == expected.end(); });
  if (foreign.empty()) return;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "The result contained tensors residing on device(s) " + join(foreign) +
                  " which are not among the expected device(s) " +
                  (expected.empty() ? "(none: the future was created without devices)" : join(expected)));
}

}  // namespace

FutureDevice::FutureDevice(int index) : device_(device::cuda(static_cast<std::int16_t>(index))) {
  if (index >= 0 && index <= INT16_MAX) return;
  throw Error(ErrorKind::InvalidArgument, "ValueError", "Expected a device's index, got " + std::to_string(index));
}

FutureDevice::FutureDevice(const char* name) : FutureDevice(device::parse_device(name)) {}

FutureDevice::FutureDevice(device::Device gpu) : device_(gpu) {
  if (!gpu.is_cpu()) return;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "Expected devices to have indices, got " + to_string(gpu) + "; values on the CPU need no device");
}

void ValueStreams::record(TensorList tensors, const std::vector<device::Device>* expected,
                          const std::vector<device::Device>& also) {
  std::erase_if(tensors, [](const Tensor& tensor) { return tensor.device().is_cpu(); });
  std::set<device::Device> devices = devices_of(tensors);
  if (expected != nullptr) check_expected(devices, *expected);
  devices.insert(also.begin(), also.end());
  for (const device::Device device : devices) {
    device::Event event;
    event.record(device::current_stream(device));
    points_.push_back({device, std::move(event)});
  }
  tensors_ = std::move(tensors);
}

void ValueStreams::follow() const {
  for (const Point& point : points_) point.event.block(device::current_stream(point.device));
  for (const Tensor& tensor : tensors_) tensor.record_stream(device::current_stream(tensor.device()));
}

}  // namespace distrun::future
