// Devices shared between processes. The other process is forked before any driver exists.
#include "driver_contract.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>

namespace distrun::device {
namespace {

constexpr std::size_t kCount = 1000;
constexpr std::size_t kHandleMost = 256;

bool send(int line, const IpcHandle& handle) {
  return ::write(line, handle.bytes.data(), handle.bytes.size()) == static_cast<ssize_t>(handle.bytes.size());
}

IpcHandle receive(int line) {
  IpcHandle handle;
  handle.bytes.resize(kHandleMost);
  const ssize_t size = ::read(line, handle.bytes.data(), handle.bytes.size());
  handle.bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return handle;
}

// Fills memory, shares it with an event that marks its completion, and stays until the connection is closed. The exit
// code reports success.
int share(int line) try {
  const Subject subject = make_subject();
  if (subject.driver == nullptr || !subject.shares_with_processes) return 0;
  Driver& driver = *subject.driver;
  const Buffer memory(driver, 0, kCount * sizeof(int));
  const OwnEvent filled(driver, {.interprocess = true});
  driver.busy(kDefault, 2'000'000);
  driver.fill(kDefault, memory.data(), 7, kCount * sizeof(int));
  driver.record(kDefault, filled);
  std::size_t offset = 0;
  const IpcHandle handle = driver.export_memory(static_cast<int*>(memory.data()) + 1, &offset);
  if (offset != sizeof(int) || !send(line, handle) || !send(line, driver.export_event(filled))) return 1;
  char byte;
  const bool is_closed = ::read(line, &byte, 1) == 0;
  driver.synchronize(kDefault);
  return is_closed ? 0 : 1;
} catch (const std::exception&) {
  return 1;
}

// The other process, for a scope.
class Sharer {
 public:
  Sharer() {
    base::FdPair pair = base::make_socket_pair(SOCK_SEQPACKET);
    pid_ = ::fork();
    if (pid_ == 0) {
      pair.first.reset();
      ::_exit(share(pair.second.get()));
    }
    line_ = std::move(pair.first);
  }
  ~Sharer() {
    if (line_) end();
  }
  Sharer(const Sharer&) = delete;
  Sharer& operator=(const Sharer&) = delete;
  int line() const { return line_.get(); }
  int end() {
    line_.reset();
    int status = -1;
    ::waitpid(pid_, &status, 0);
    return status;
  }

 private:
  pid_t pid_ = -1;
  base::Fd line_;
};

}  // namespace

TEST_CASE("memory and events of another process are used like local ones") {
  Sharer sharer;
  {
    const Subject subject = subject_with_driver();
    testing::skip_case_if(!subject.shares_with_processes, "it has no handles for other processes");
    Driver& driver = *subject.driver;
    const IpcHandle memory = receive(sharer.line());
    const IpcHandle event = receive(sharer.line());
    void* const there = driver.import_memory(0, memory);
    const EventId filled = driver.import_event(0, event);
    CHECK(driver.device_of(there) == 0);
    driver.wait(kDefault, filled);
    CHECK(read(driver, kDefault, there, kCount) == std::vector<int>(kCount, 0x07070707));
    CHECK(driver.is_done(filled));
    driver.destroy_event(0, filled);
    driver.close_imported(0, there);
  }
  CHECK(sharer.end() == 0);
}

TEST_CASE("invalid handles are refused") {
  const Subject subject = subject_with_driver();
  testing::skip_case_if(!subject.shares_with_processes, "it has no handles for other processes");
  Driver& driver = *subject.driver;
  CHECK_THROWS_WITH(driver.import_memory(0, IpcHandle{}), Catch::Contains("it has 0 bytes"));
  const OwnEvent event(driver, {.interprocess = true});
  CHECK_THROWS_WITH(driver.import_event(0, driver.export_event(event)), Catch::Contains("created by this process"));
}

}  // namespace distrun::device
