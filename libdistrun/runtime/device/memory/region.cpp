#include <distrun/runtime/device/memory/region.hpp>

namespace distrun::device {

Region flat_region(const void* begin, std::size_t bytes, Access access) {
  Region region;
  region.begin = const_cast<void*>(begin);
  region.sizes = {static_cast<std::int64_t>(bytes)};
  region.strides = {1};
  region.access = access;
  return region;
}

}  // namespace distrun::device
