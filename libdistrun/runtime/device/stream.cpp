#include <distrun/runtime/device/stream.hpp>

#include <charconv>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/device/drivers/cpu/cpu_driver.hpp>
#include <distrun/runtime/device/gpu.hpp>

namespace distrun::device {
namespace {

constexpr std::string_view kCuda = "cuda";

void check_is_there(Device device) {
  const int count = device.is_cpu() ? 1 : gpu_count();
  if (device.index >= 0 && device.index < count) return;
  std::string why = device.is_cpu() ? "there is only one cpu" : why_no_gpu();
  if (why.empty()) why = count == 1 ? "only cuda:0 exists" : "there are cuda:0 to cuda:" + std::to_string(count - 1);
  throw Error(ErrorKind::InvalidArgument, to_string(device) + " does not exist: " + why);
}

board::WaitInfo wait_for(const std::string& name, base::Location site) {
  board::WaitInfo info;
  info.kind = board::WaitKind::Stream;
  info.name = name;
  info.site = site;
  return info;
}

[[noreturn]] void refuse_name(std::string_view text) {
  throw Error(ErrorKind::InvalidArgument,
              "'" + std::string(text.substr(0, 40)) + "' is not a device; expected \"cpu\", \"cuda\" or \"cuda:1\"");
}

}  // namespace

Device parse_device(std::string_view text) {
  if (text == "cpu" || text == "cpu:0") return kCpu;
  if (text == kCuda) return cuda(current_device());
  if (!text.starts_with("cuda:")) refuse_name(text);
  const std::string_view digits = text.substr(kCuda.size() + 1);
  std::int16_t index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc{} || end != digits.data() + digits.size() || index < 0) refuse_name(text);
  return cuda(index);
}

Driver& driver_of(Device device) {
  if (device.is_cpu() && device.index == 0) return cpu_driver();
  check_is_there(device);
  return gpu_driver();
}

void Stream::synchronize(base::Location site) const {
  if (device_.is_cpu()) return;
  const std::string name = to_string(*this);
  const core::Wait wait(wait_for(name, site));
  driver().synchronize(ref());
}

std::string to_string(Stream stream) {
  return stream.device().is_cpu() ? to_string(stream.device()) + " default stream" : to_string(stream.ref());
}

Stream default_stream(Device device) { return {device, StreamId{}}; }

Stream current_stream(Device device) {
  if (device.is_cpu()) return default_stream(device);
  const std::vector<StreamId>& streams = core::thread_state().streams;
  const auto index = static_cast<std::size_t>(device.index);
  return {device, index < streams.size() ? streams[index] : StreamId{}};
}

void set_current_stream(Stream stream) {
  if (stream.device().is_cpu()) return;
  std::vector<StreamId>& streams = core::thread_state().streams;
  const auto index = static_cast<std::size_t>(stream.device().index);
  if (index >= streams.size()) streams.resize(index + 1);
  streams[index] = stream.ref().id;
}

Stream make_stream(Device device, Priority priority) {
  return {device, driver_of(device).make_stream(device.index, priority)};
}

void destroy_stream(Stream stream) { stream.driver().destroy_stream(stream.ref()); }

int current_device() noexcept { return core::thread_state().device; }

void set_current_device(int index) {
  check_is_there(cuda(index));
  core::thread_state().device = static_cast<std::int16_t>(index);
}

void synchronize(Device device, base::Location site) {
  if (device.is_cpu()) return;
  const std::string name = to_string(device);
  const core::Wait wait(wait_for(name, site));
  driver_of(device).synchronize_device(device.index);
}

DeviceGuard::DeviceGuard(Device device) : before_(current_device()) {
  if (!device.is_cpu()) set_current_device(device.index);
}

DeviceGuard::~DeviceGuard() { core::thread_state().device = static_cast<std::int16_t>(before_); }

StreamGuard::StreamGuard(Stream stream) : before_(current_stream(stream.device())), device_before_(current_device()) {
  set_current_stream(stream);
  if (!stream.device().is_cpu()) set_current_device(stream.device().index);
}

StreamGuard::~StreamGuard() {
  set_current_stream(before_);  // its entry exists, so nothing is allocated
  core::thread_state().device = static_cast<std::int16_t>(device_before_);
}

}  // namespace distrun::device
