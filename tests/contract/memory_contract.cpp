// Memory, copies and fill.
#include "driver_contract.hpp"

#include <cstdint>
#include <numeric>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sanitizer.hpp>

namespace distrun::device {

std::vector<int> read(Driver& driver, StreamRef stream, const void* memory, std::size_t count) {
  std::vector<int> values(count, -1);
  driver.copy(stream, values.data(), memory, count * sizeof(int));
  driver.synchronize(stream);
  return values;
}

void write(Driver& driver, StreamRef stream, void* memory, const std::vector<int>& values) {
  driver.copy(stream, memory, values.data(), values.size() * sizeof(int));
  driver.synchronize(stream);
}

namespace {

std::vector<int> counted(std::size_t count, int first = 0) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_CASE("a device has a description") {
  const Subject subject = subject_with_driver();
  for (int device = 0; device < subject.driver->device_count(); ++device) {
    const Properties properties = subject.driver->properties(device);
    CHECK_FALSE(properties.name.empty());
    CHECK_FALSE(properties.uuid.empty());
    CHECK(properties.memory_bytes > 0);
    CHECK(properties.multiprocessors > 0);
    CHECK(properties.clock_hz > 0);
    CHECK(subject.driver->free_bytes(device) <= properties.memory_bytes);
  }
}

TEST_CASE("memory is aligned, and different for each allocation") {
  const Subject subject = subject_with_driver();
  const Buffer first(*subject.driver, 0, 1);
  const Buffer second(*subject.driver, 0, 1000);
  CHECK(reinterpret_cast<std::uintptr_t>(first.data()) % 256 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(second.data()) % 256 == 0);
  CHECK(first.data() != second.data());
}

TEST_CASE("a request for more memory than exists is refused with the sizes") {
  const Subject subject = subject_with_driver();
  testing::skip_case_if(base::kSanitized && subject.driver->name() == "cpu",
                        "a sanitizer ends a process that requests that much from malloc");
  try {
    subject.driver->allocate(0, std::size_t{1} << 60);
    FAIL("it was given");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Overloaded);
    CHECK(error.type() == "OutOfMemoryError");
    CHECK_FALSE(error.text().empty());
  }
}

TEST_CASE("data copied to a device is copied back unchanged") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer there(driver, 0, 4000);
  write(driver, kDefault, there.data(), counted(1000));
  CHECK(read(driver, kDefault, there.data(), 1000) == counted(1000));
  CHECK(read(driver, kDefault, static_cast<int*>(there.data()) + 500, 3) == counted(3, 500));
}

TEST_CASE("a copy from pageable memory has taken the bytes when it returns") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer there(driver, 0, 400);
  std::vector<int> values = counted(100);
  driver.busy(kDefault, 1'000'000);
  driver.copy(kDefault, there.data(), values.data(), 400);
  values.assign(100, 7);
  CHECK(read(driver, kDefault, there.data(), 100) == counted(100));
}

TEST_CASE("pinned memory works as source and destination of copies") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  auto* const pinned = static_cast<int*>(driver.allocate_pinned(800));
  std::iota(pinned, pinned + 100, 5);
  const Buffer there(driver, 0, 400);
  driver.copy(kDefault, there.data(), pinned, 400);
  driver.copy(kDefault, pinned + 100, there.data(), 400);
  driver.synchronize(kDefault);
  CHECK(std::vector<int>(pinned + 100, pinned + 200) == counted(100, 5));
  driver.free_pinned(pinned);
}

TEST_CASE("copies go within a device") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer first(driver, 0, 400);
  const Buffer second(driver, 0, 400);
  write(driver, kDefault, first.data(), counted(100, 3));
  driver.copy(kDefault, second.data(), first.data(), 400);
  CHECK(read(driver, kDefault, second.data(), 100) == counted(100, 3));
}

TEST_CASE("copies go from one device to another") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  testing::skip_case_if(driver.device_count() < 2, "there is one device");
  const Buffer first(driver, 0, 400);
  const Buffer other(driver, 1, 400);
  write(driver, kDefault, first.data(), counted(100, 3));
  driver.copy(kDefault, other.data(), first.data(), 400);
  driver.synchronize(kDefault);
  CHECK(read(driver, {1, {}}, other.data(), 100) == counted(100, 3));
}

TEST_CASE("fill sets bytes") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const Buffer there(driver, 0, 16);
  driver.fill(kDefault, there.data(), 0xff, 16);
  driver.fill(kDefault, static_cast<int*>(there.data()) + 1, 0, 4);
  CHECK(read(driver, kDefault, there.data(), 4) == std::vector{-1, 0, -1, -1});
}

TEST_CASE("copies and fills of no bytes do nothing") {
  const Subject subject = subject_with_driver();
  subject.driver->copy(kDefault, nullptr, nullptr, 0);
  subject.driver->fill(kDefault, nullptr, 1, 0);
  subject.driver->synchronize(kDefault);
}

TEST_CASE("a driver recognizes its own memory") {
  const Subject subject = subject_with_driver();
  testing::skip_case_if(subject.driver->name() == "cpu", "the memory of the cpu is the host's");
  const Buffer there(*subject.driver, 0, 100);
  int here = 0;
  CHECK(subject.driver->device_of(there.data()) == 0);
  CHECK(subject.driver->device_of(static_cast<std::byte*>(there.data()) + 99) == 0);
  CHECK(subject.driver->device_of(&here) == -1);
}

}  // namespace
}  // namespace distrun::device
