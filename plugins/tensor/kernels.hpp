#pragma once
// Integers on a device, and the few kernels that the suite runs on them.
#include <algorithm>
#include <memory>
#include <vector>

#include <distrun/runtime/device/memory/allocator.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/test.hpp>

// Uses the device's current stream.
class Ints {
 public:
  Ints(distrun::Device device, std::size_t count)
      : memory_(distrun::device::allocate(device, count * sizeof(int))), count_(count) {}

  int* data() const { return static_cast<int*>(memory_->data()); }
  std::size_t bytes() const { return count_ * sizeof(int); }
  distrun::device::Memory& memory() const { return *memory_; }
  void let_go() { memory_.reset(); }

  void set(distrun::Stream stream, int value, distrun::base::Location site = distrun::base::Location::here()) const {
    launch(stream, "set", distrun::device::Access::Write, site,
           [value](int* begin, int* end) { std::fill(begin, end, value); });
  }
  void add(distrun::Stream stream, int value, distrun::base::Location site = distrun::base::Location::here()) const {
    launch(stream, "add", distrun::device::Access::ReadWrite, site,
           [value](int* begin, int* end) { std::for_each(begin, end, [value](int& number) { number += value; }); });
  }
  // Returns the values once the stream's work is done.
  std::vector<int> read(distrun::Stream stream, distrun::base::Location site = distrun::base::Location::here()) const {
    std::vector<int> values(count_);
    stream.driver().copy(stream.ref(), values.data(), data(), bytes(), site);
    stream.synchronize(site);
    return values;
  }

 private:
  template <class Body>
  void launch(distrun::Stream stream, const char* name, distrun::device::Access access, distrun::base::Location site,
              Body body) const {
    distrun::device::Kernel kernel;
    kernel.name = name;
    kernel.regions = {distrun::device::flat_region(data(), bytes(), access)};
    kernel.body = [body, count = count_](const std::vector<distrun::device::Region>& regions) {
      auto* const begin = static_cast<int*>(regions.front().begin);
      body(begin, begin + count);
    };
    stream.driver().launch(stream.ref(), std::move(kernel), site);
  }

  std::unique_ptr<distrun::device::Memory> memory_;
  std::size_t count_;
};
