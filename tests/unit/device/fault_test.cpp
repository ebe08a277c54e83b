// Host code that touches device memory is stopped at that instruction, and the memory is named.
#include <setjmp.h>
#include <signal.h>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::device {
namespace {

sigjmp_buf after_fault;
const void* volatile fault_address = nullptr;

void on_fault(int, siginfo_t* info, void*) {
  fault_address = info->si_addr;
  siglongjmp(after_fault, 1);
}

// Returns whether reading or writing that byte faults at that address.
bool faults(volatile char* byte, bool writes) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, &before);
  fault_address = nullptr;
  if (sigsetjmp(after_fault, 1) == 0) {
    if (writes) {
      *byte = 1;
    } else {
      static_cast<void>(*byte);
    }
  }
  ::sigaction(SIGSEGV, &before, nullptr);
  return fault_address == byte;
}

std::string described(const Driver& driver, const void* address) {
  char text[200];
  return {text, driver.describe(address, text, sizeof text)};
}

TEST_CASE("host code cannot touch device memory") {
  VirtualSettings settings;
  settings.devices = 2;
  const std::unique_ptr<Driver> driver = make_virtual_driver(settings);
  auto* const memory = static_cast<char*>(driver->allocate(1, 100));
  CHECK(faults(memory, false));
  CHECK(faults(memory + 50, true));
  char here = 0;
  CHECK_FALSE(faults(&here, true));
}

TEST_CASE("the memory that was touched is named") {
  VirtualSettings settings;
  settings.devices = 2;
  const std::unique_ptr<Driver> driver = make_virtual_driver(settings);
  auto* const memory = static_cast<char*>(driver->allocate(1, 4096));
  driver->block_taken(memory, 1024, {"ring.cpp", 12});
  driver->block_taken(memory + 1024, 1024, {"ring.cpp", 15});
  driver->block_taken(memory + 512, 512, {"ring.cpp", 20});  // the first one's memory, again
  CHECK(described(*driver, memory + 600) == "device memory of cuda:1 (allocated at ring.cpp:20)");
  CHECK(described(*driver, memory + 1024) == "device memory of cuda:1 (allocated at ring.cpp:15)");
  CHECK(described(*driver, memory) == "device memory of cuda:1");
  CHECK(described(*driver, memory + 3000) == "device memory of cuda:1");
  int here = 0;
  CHECK(described(*driver, &here).empty());
  char text[10];
  CHECK(driver->describe(memory, text, sizeof text) == sizeof text);
}

TEST_CASE("kernels, copies and fills beyond an allocation are refused") {
  const std::unique_ptr<Driver> driver = make_virtual_driver({});
  auto* const memory = static_cast<char*>(driver->allocate(0, 1024));
  std::vector<char> here(2000);
  CHECK_THROWS_WITH(driver->copy({}, memory, here.data(), 1025),
                    "access to 1.0 KiB of cuda:0 that begins at 0 bytes of an allocation of 1.0 KiB");
  CHECK_THROWS_WITH(driver->fill({}, memory + 1000, 0, 100), Catch::Contains("that begins at 1000 bytes"));
  driver->free(0, memory);
  CHECK_THROWS_WITH(driver->fill({}, memory, 0, 1), Catch::StartsWith("use after free: access to 1 byte"));
  CHECK_THROWS_WITH(driver->free(0, memory), Catch::StartsWith("memory is freed twice: an allocation of 1.0 KiB"));
}

TEST_CASE("a use of freed memory is reported as such, with where it was allocated and freed") {
  VirtualSettings settings;
  settings.check_order = true;
  const std::unique_ptr<Driver> driver = make_virtual_driver(settings);
  auto* const memory = static_cast<char*>(driver->allocate(0, 4096));
  driver->block_taken(memory, 1024, {"ring.cpp", 12});
  driver->block_taken(memory + 1024, 1024, {"ring.cpp", 15});
  driver->block_freed(memory, 1024);
  CHECK_THROWS_WITH(driver->fill({}, memory + 100, 0, 8),
                    Catch::StartsWith("use after free: access to 8 bytes from byte 100 on of an allocation of 1.0 KiB "
                                      "on cuda:0, allocated at ring.cpp:12, which was freed before"));
  CHECK(described(*driver, memory) == "freed device memory of cuda:0 (allocated at ring.cpp:12)");
  CHECK_NOTHROW(driver->fill({}, memory + 1024, 0, 8));
  driver->block_taken(memory, 512, {"ring.cpp", 20});  // it is handed out again
  CHECK_NOTHROW(driver->fill({}, memory, 0, 8));
  driver->free(0, memory);
  CHECK_THROWS_WITH(driver->fill({}, memory, 0, 1), Catch::StartsWith("use after free: access to 1 byte"));
  CHECK(driver->allocate(0, 4096) == memory);
  CHECK_NOTHROW(driver->fill({}, memory, 0, 1));
}

TEST_CASE("memory is returned to the device in one piece") {
  VirtualSettings settings;
  settings.memory_bytes = 1 << 20;
  const std::unique_ptr<Driver> driver = make_virtual_driver(settings);
  void* pieces[4];
  for (void*& piece : pieces) piece = driver->allocate(0, 1 << 18);
  CHECK(driver->free_bytes(0) == 0);
  for (const int i : {1, 3, 0, 2}) driver->free(0, pieces[i]);
  CHECK(driver->free_bytes(0) == 1 << 20);
  driver->free(0, driver->allocate(0, 1 << 20));
}

}  // namespace
}  // namespace distrun::device
