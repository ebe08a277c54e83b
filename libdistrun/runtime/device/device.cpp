#include <distrun/runtime/device/device.hpp>

#include <charconv>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::device {
namespace {

constexpr std::string_view kCuda = "cuda";

[[noreturn]] void refuse(std::string_view text) {
  throw Error(ErrorKind::InvalidArgument,
              "'" + std::string(text.substr(0, 40)) + "' is no device: \"cpu\", \"cuda\" or \"cuda:1\" are");
}

}  // namespace

std::string to_string(Device device) {
  return device.is_cpu() ? std::string("cpu") : "cuda:" + std::to_string(device.index);
}

Device parse_device(std::string_view text) {
  if (text == "cpu" || text == "cpu:0") return kCpu;
  if (text == kCuda) return cuda(current_device());
  if (!text.starts_with("cuda:")) refuse(text);
  const std::string_view digits = text.substr(kCuda.size() + 1);
  std::int16_t index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc{} || end != digits.data() + digits.size() || index < 0) refuse(text);
  return cuda(index);
}

}  // namespace distrun::device
