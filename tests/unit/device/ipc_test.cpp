// Virtual devices shared between processes, and the effects when one of the processes is killed.
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::device {
namespace {

constexpr StreamRef kIpcStream{};
constexpr std::size_t kCount = 1000;

std::unique_ptr<Driver> make_driver() {
  VirtualSettings settings;
  settings.memory_bytes = std::size_t{8} << 20;
  return make_virtual_driver(settings);
}

void send(int line, const IpcHandle& handle) {
  REQUIRE(::write(line, handle.bytes.data(), handle.bytes.size()) == static_cast<ssize_t>(handle.bytes.size()));
}

IpcHandle receive(int line) {
  IpcHandle handle;
  handle.bytes.resize(256);
  const ssize_t size = ::read(line, handle.bytes.data(), 256);
  REQUIRE(size > 0);
  handle.bytes.resize(static_cast<std::size_t>(size));
  return handle;
}

// Fills memory with 7 after 5 ms, records an event, and stays until killed. Without `finish` it never reaches the
// event.
[[noreturn]] void be_exporter(int line, bool finish) {
  const std::unique_ptr<Driver> driver = make_driver();
  driver->allocate(0, 100);  // so that the next does not start at a page boundary
  void* const memory = driver->allocate(0, kCount * sizeof(int));
  const EventId event = driver->make_event(0, {.interprocess = true});
  std::size_t offset = 0;
  driver->busy(kIpcStream, finish ? 5'000'000 : 3'600'000'000'000);
  driver->fill(kIpcStream, memory, 7, kCount * sizeof(int));
  driver->record(kIpcStream, event);
  send(line, driver->export_memory(static_cast<int*>(memory) + 1, &offset));
  send(line, driver->export_event(event));
  char byte;
  static_cast<void>(::read(line, &byte, 1));
  ::_exit(offset == sizeof(int) ? 0 : 1);
}

struct Exporter {
  explicit Exporter(bool finish) {
    base::FdPair pair = base::make_socket_pair(SOCK_SEQPACKET);
    pid = ::fork();  // before any thread
    if (pid == 0) {
      pair.first.reset();
      be_exporter(pair.second.get(), finish);
    }
    line = std::move(pair.first);
  }
  int end() {
    line.reset();
    int status = -1;
    ::waitpid(pid, &status, 0);
    return status;
  }

  pid_t pid = -1;
  base::Fd line;
};

TEST_CASE("memory and events of another process are used like local ones") {
  Exporter exporter(true);
  const IpcHandle memory = receive(exporter.line.get());
  const IpcHandle event = receive(exporter.line.get());
  const std::unique_ptr<Driver> driver = make_driver();
  auto* const there = static_cast<int*>(driver->import_memory(0, memory));
  const EventId filled = driver->import_event(0, event);
  CHECK(driver->device_of(there) == 0);
  driver->wait(kIpcStream, filled);
  std::vector<int> here(kCount);
  driver->copy(kIpcStream, here.data(), there, kCount * sizeof(int));
  CHECK(here == std::vector<int>(kCount, 0x07070707));
  CHECK(driver->is_done(filled));
  driver->synchronize(filled);
  CHECK_THROWS_AS(driver->copy(kIpcStream, here.data(), there, std::size_t{1} << 20), Error);
  char text[200];
  const std::size_t size = driver->describe(there, text, sizeof text);
  CHECK(std::string(text, size) == "imported memory of cuda:0");
  driver->close_imported(0, there);
  CHECK(driver->device_of(there) == -1);
  CHECK_THROWS_AS(driver->close_imported(0, there), Error);
  CHECK(exporter.end() == 0);
}

TEST_CASE("memory outlives the process that has exported it, and a stream that waits for that process gets an error") {
  Exporter exporter(false);
  const IpcHandle memory = receive(exporter.line.get());
  const IpcHandle event = receive(exporter.line.get());
  const std::unique_ptr<Driver> driver = make_driver();
  auto* const there = static_cast<int*>(driver->import_memory(0, memory));
  const EventId filled = driver->import_event(0, event);
  CHECK_FALSE(driver->is_done(filled));
  driver->wait(kIpcStream, filled);
  ::kill(exporter.pid, SIGKILL);
  exporter.end();
  CHECK_THROWS_WITH(driver->synchronize(kIpcStream), Catch::Contains("ended before its work was done"));
  CHECK_NOTHROW(driver->synchronize(kIpcStream));  // reported once: later work goes on
  CHECK_THROWS_WITH(driver->synchronize(filled), Catch::Contains("ended before"));
  const StreamRef other{0, driver->make_stream(0, Priority::Normal)};
  driver->fill(other, there, 1, 4);
  driver->synchronize(other);
  CHECK_THROWS_WITH(driver->import_memory(0, memory), Catch::Contains("cannot open"));
}

TEST_CASE("invalid handles are refused") {
  const std::unique_ptr<Driver> driver = make_driver();
  const EventId plain = driver->make_event(0, {});
  CHECK_THROWS_WITH(driver->export_event(plain), Catch::Contains("created for other processes"));
  CHECK_THROWS_WITH(driver->make_event(0, {.timing = true, .interprocess = true}), Catch::Contains("timing"));
  CHECK_THROWS_WITH(driver->import_memory(0, IpcHandle{}), Catch::Contains("it has 0 bytes"));
  const EventId event = driver->make_event(0, {.interprocess = true});
  CHECK_THROWS_WITH(driver->import_memory(0, driver->export_event(event)), Catch::Contains("not a handle of memory"));
  CHECK_THROWS_WITH(driver->import_event(0, driver->export_event(event)), Catch::Contains("created by this process"));
}

// A handle comes from another process: an offset beyond the memory would raise SIGBUS on access.
TEST_CASE("a handle with bytes outside its device's memory is refused") {
  constexpr std::uint64_t kFar = std::uint64_t{8} << 20;  // the end of the exporter's memory
  Exporter exporter(true);
  const IpcHandle memory = receive(exporter.line.get());
  receive(exporter.line.get());
  const std::unique_ptr<Driver> driver = make_driver();
  const std::size_t numbers = memory.bytes.size() / sizeof(std::uint64_t);
  int refused = 0;
  for (std::size_t i = numbers - 4; i < numbers; ++i) {  // offset, size, and two irrelevant ones
    for (const std::uint64_t forged : {kFar, kFar * 1024, ~std::uint64_t{0}, ~std::uint64_t{4095}}) {
      IpcHandle damaged = memory;
      std::memcpy(damaged.bytes.data() + i * sizeof forged, &forged, sizeof forged);
      try {
        driver->close_imported(0, driver->import_memory(0, damaged));
      } catch (const Error& error) {
        CHECK_THAT(error.what(), Catch::Contains("the handle is damaged"));
        ++refused;
      }
    }
  }
  CHECK(refused == 8);
  CHECK(exporter.end() == 0);
}

TEST_CASE("slots of events for other processes are reused") {
  const std::unique_ptr<Driver> driver = make_driver();
  for (int i = 0; i < 1000; ++i) {
    const EventId event = driver->make_event(0, {.interprocess = true});
    driver->record(kIpcStream, event);
    driver->synchronize(event);
    CHECK(driver->is_done(event));
    driver->destroy_event(0, event);
  }
}

}  // namespace
}  // namespace distrun::device
