#include "driver_contract.hpp"

#include "support/emulated_cuda.hpp"

namespace distrun::device {

Subject make_subject() {
  VirtualSettings settings;
  settings.devices = 2;
  settings.seed = 5;
  Subject subject;
  subject.driver = testing::make_emulated_cuda(settings);
  return subject;
}

}  // namespace distrun::device
