#include "driver_contract.hpp"

#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::device {

// Checks stream order, which must find nothing in any case.
Subject make_subject() {
  VirtualSettings settings;
  settings.devices = 2;
  settings.seed = 7;
  settings.check_order = true;
  settings.memory_bytes = std::size_t{64} << 20;
  Subject subject;
  subject.driver = make_virtual_driver(settings);
  return subject;
}

}  // namespace distrun::device
