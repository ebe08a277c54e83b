#include "driver_contract.hpp"

#include <distrun/runtime/device/drivers/cpu/cpu_driver.hpp>

namespace distrun::device {

Subject make_subject() {
  Subject subject;
  subject.driver = make_cpu_driver();
  subject.is_asynchronous = false;
  subject.shares_with_processes = false;
  return subject;
}

}  // namespace distrun::device
