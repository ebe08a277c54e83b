#include <distrun/runtime/device/drivers/virtual/shared_area.hpp>

#include <unistd.h>

#include <distrun/common/base/rng.hpp>

namespace distrun::device::virtual_gpu {

MappedArea::MappedArea() : memory_("shared data of virtual devices", sizeof(SharedArea)) {
  (*this)->pid = ::getpid();
  (*this)->token = base::random_seed() | 1;
}

}  // namespace distrun::device::virtual_gpu
