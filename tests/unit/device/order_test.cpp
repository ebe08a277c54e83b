// The check of stream order: for each rule a case that keeps it and one that breaks it, independent of the seed of the
// delays.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <latch>
#include <map>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>

#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>
#include <distrun/runtime/device/memory/caching_allocator.hpp>
#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::device {
namespace {

constexpr std::uint64_t kSeeds = 1000;
constexpr StreamRef kDefaultStream{};
constexpr std::size_t kBytes = 4096;

// Two devices with checked order, and the findings.
class Checked {
 public:
  explicit Checked(std::uint64_t seed) {
    VirtualSettings settings;
    settings.devices = 2;
    settings.seed = seed;
    settings.check_order = true;
    settings.memory_bytes = std::size_t{8} << 20;
    driver_ = make_virtual_driver(settings);
    tell_order_reports_to([this](const OrderReport& report) { found.push_back(report.text); });
    other = {0, driver_->make_stream(0, Priority::Normal)};
    memory = driver_->allocate(0, kBytes);
  }
  ~Checked() { tell_order_reports_to({}); }

  Driver& operator*() const { return *driver_; }
  Driver* operator->() const { return driver_.get(); }

  // Launches a kernel that reads the memory.
  void read_on(StreamRef stream, const char* name = "sum", base::Location site = base::Location::here()) {
    run(stream, name, Access::Read, site);
  }
  void write_on(StreamRef stream, const char* name = "fill", base::Location site = base::Location::here()) {
    run(stream, name, Access::Write, site);
  }
  void order(StreamRef before, StreamRef after) {
    const EventId event = driver_->make_event(before.device, {});
    driver_->record(before, event);
    driver_->wait(after, event);
    driver_->destroy_event(before.device, event);
  }

  StreamRef other;
  void* memory = nullptr;
  std::vector<std::string> found;

 private:
  void run(StreamRef stream, const char* name, Access access, base::Location site) {
    Kernel kernel;
    kernel.name = name;
    kernel.regions = {flat_region(memory, kBytes, access)};
    kernel.body = [](const std::vector<Region>&) {};
    driver_->launch(stream, std::move(kernel), site);
  }

  std::unique_ptr<Driver> driver_;
};

// Checks that for every seed the first is reported once, and the second never.
void check_rule(const std::function<void(Checked&)>& unordered, const std::function<void(Checked&)>& ordered,
                const std::string& words = "is not ordered after") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    INFO("seed " << seed);
    {
      Checked world(seed);
      unordered(world);
      REQUIRE(world.found.size() == 1);
      REQUIRE_THAT(world.found.front(), Catch::Contains(words));
    }
    Checked world(seed);
    ordered(world);
    REQUIRE(world.found.empty());
  }
}

TEST_CASE("use after a copy") {
  const auto copy = [](Checked& world) {
    static int* const pinned = static_cast<int*>(std::aligned_alloc(256, kBytes));
    world->copy(world.other, world.memory, pinned, kBytes);
  };
  check_rule(
      [&](Checked& world) {
        copy(world);
        world.read_on(kDefaultStream);
      },
      [&](Checked& world) {
        copy(world);
        world->synchronize(world.other);
        world.read_on(kDefaultStream);
      },
      "the write by copy");
}

TEST_CASE("use on another stream") {
  check_rule(
      [](Checked& world) {
        world.write_on(world.other);
        world.write_on(kDefaultStream);
      },
      [](Checked& world) {
        world.write_on(world.other);
        world.order(world.other, kDefaultStream);
        world.write_on(kDefaultStream);
      });
}

TEST_CASE("an event that is recorded too early orders nothing") {
  check_rule(
      [](Checked& world) {
        const EventId event = world->make_event(0, {});
        world->record(world.other, event);
        world.write_on(world.other);
        world->wait(kDefaultStream, event);
        world.read_on(kDefaultStream);
      },
      [](Checked& world) {
        const EventId event = world->make_event(0, {});
        world.write_on(world.other);
        world->record(world.other, event);
        world->wait(kDefaultStream, event);
        world.read_on(kDefaultStream);
      });
}

TEST_CASE("memory that the allocator hands out again") {
  const auto reuse = [](Checked& world, bool recorded) {
    CachingAllocator allocator(*world, 0);
    auto memory = allocator.allocate(kBytes, StreamId{}, {"a.cpp", 1});
    const auto* const begin = memory->data();
    world.memory = memory->data();
    world.write_on(kDefaultStream);
    world.order(kDefaultStream, world.other);
    world.read_on(world.other);
    if (recorded) memory->record_stream(Stream(cuda(0), world.other.id));
    memory.reset();
    memory = allocator.allocate(kBytes, StreamId{}, {"b.cpp", 2});
    if (!recorded) REQUIRE(memory->data() == begin);
    world.memory = memory->data();
    world.write_on(kDefaultStream);
  };
  check_rule([&](Checked& world) { reuse(world, false); }, [&](Checked& world) { reuse(world, true); },
             "use record_stream() to tell the allocator");
}

TEST_CASE("copies across devices") {
  const auto copy = [](Checked& world, bool ordered) {
    const StreamRef there{1, {}};
    void* const target = world->allocate(1, kBytes);
    world.write_on(kDefaultStream);
    world->copy(kDefaultStream, target, world.memory, kBytes);
    if (ordered) world.order(kDefaultStream, there);
    world.memory = target;
    world.read_on(there);
  };
  check_rule([&](Checked& world) { copy(world, false); }, [&](Checked& world) { copy(world, true); });
}

TEST_CASE("work that the host has waited for, or has seen to be done, is ordered before later work") {
  Checked world(3);
  const EventId event = world->make_event(0, {});
  world.write_on(world.other);
  world->record(world.other, event);
  world->synchronize(event);
  world.write_on(kDefaultStream);
  world->record(kDefaultStream, event);
  while (!world->is_done(event)) {
  }
  world.write_on(world.other);
  world->synchronize_device(0);
  world.write_on(kDefaultStream);
  while (!world->is_idle(kDefaultStream)) {
  }
  world.write_on(world.other);
  const StreamRef destroyed{0, world->make_stream(0, Priority::Normal)};
  world.order(world.other, destroyed);
  world.write_on(destroyed);
  world->destroy_stream(destroyed);
  world->synchronize_device(0);
  world.write_on(kDefaultStream);
  CHECK(world.found.empty());
}

TEST_CASE("reads, and separate columns of a matrix, need no order") {
  Checked world(4);
  world.read_on(kDefaultStream);
  world.read_on(world.other);
  world->synchronize_device(0);
  for (const StreamRef stream : {kDefaultStream, world.other}) {
    Kernel kernel;
    kernel.name = "column";
    Region column;
    column.begin = static_cast<int*>(world.memory) + (stream == kDefaultStream ? 0 : 1);
    column.element_bytes = sizeof(int);
    column.sizes = {512};
    column.strides = {2};
    column.access = Access::Write;
    kernel.regions = {column};
    kernel.body = [](const std::vector<Region>&) {};
    world->launch(stream, std::move(kernel));
  }
  CHECK(world.found.empty());
  world->fill(world.other, world.memory, 0, 8);  // touches both
  REQUIRE(world.found.size() == 1);
}

TEST_CASE("order is passed on from stream to stream") {
  Checked world(5);
  const StreamRef third{1, {}};
  world.write_on(world.other);
  world.order(world.other, third);
  world.order(third, kDefaultStream);
  world.write_on(kDefaultStream);
  CHECK(world.found.empty());
}

TEST_CASE("a report names both kernels, streams and sites, once") {
  Checked world(6);
  for (int i = 0; i < 3; ++i) {
    world.write_on(world.other, "scale", {"first.cpp", 12});
    world.read_on(kDefaultStream, "sum", {"second.cpp", 34});
  }
  // The next round's write is not ordered after the previous read either.
  REQUIRE(world.found.size() == 2);
  CHECK(world.found[0] ==
        "the read by sum at second.cpp:34 on cuda:0 default stream is not ordered after the write by scale at "
        "first.cpp:12 on cuda:0 stream 1; no event or synchronization orders them (4.0 KiB in common)");
}

// ---- across processes

struct Message {
  std::uint64_t size = 0;
  std::array<std::byte, 256> memory{};
  std::array<std::byte, 256> event{};
};

std::array<std::byte, 256> packed(const IpcHandle& handle) {
  std::array<std::byte, 256> bytes{};
  std::copy(handle.bytes.begin(), handle.bytes.end(), bytes.begin());
  return bytes;
}

IpcHandle unpacked(const std::array<std::byte, 256>& bytes, std::uint64_t size) {
  IpcHandle handle;
  handle.bytes.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  return handle;
}

void say(int fd) { REQUIRE(::write(fd, "x", 1) == 1); }
void hear(int fd) {
  char byte;
  REQUIRE(::read(fd, &byte, 1) == 1);
}

// The process that owns the memory writes it, for each seed.
int export_for_seeds(int line) {
  for (std::uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    Checked world(seed);
    const EventId event = world->make_event(0, {.interprocess = true});
    std::size_t offset = 0;
    const IpcHandle memory = world->export_memory(world.memory, &offset);
    const IpcHandle handle = world->export_event(event);
    world.write_on(world.other);
    world->record(world.other, event);
    const Message message{memory.bytes.size(), packed(memory), packed(handle)};
    if (::write(line, &message, sizeof message) != sizeof message) return 1;
    hear(line);
  }
  return 0;
}

TEST_CASE("memory of another process is checked as well") {
  base::FdPair line = base::make_socket_pair(SOCK_STREAM);
  const pid_t exporter = ::fork();  // before any thread
  if (exporter == 0) {
    line.first.reset();
    ::_exit(export_for_seeds(line.second.get()));
  }
  line.second.reset();
  for (std::uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    const bool ordered = seed % 2 == 1;
    INFO("seed " << seed << (ordered ? ", ordered" : ", unordered"));
    Message message;
    REQUIRE(::recv(line.first.get(), &message, sizeof message, MSG_WAITALL) == sizeof message);
    Checked world(seed);
    void* const own = world.memory;
    world.memory = world->import_memory(1, unpacked(message.memory, message.size));
    const EventId event = world->import_event(1, unpacked(message.event, message.size));
    const StreamRef stream{1, {}};
    if (ordered) world->wait(stream, event);
    world.read_on(stream);
    REQUIRE(world.found.size() == (ordered ? 0 : 1));
    const std::string theirs = "cuda:0 stream 1 of process " + std::to_string(exporter);
    if (!ordered) REQUIRE_THAT(world.found[0], Catch::Contains(theirs));
    world->close_imported(1, world.memory);
    world.memory = own;
    say(line.first.get());
  }
  int status = 0;
  REQUIRE(::waitpid(exporter, &status, 0) == exporter);
  CHECK(status == 0);
}

// Unordered writes to memory of one thread, each on a separate line.
void write_without_order(Driver& driver, std::uint32_t first_line) {
  constexpr std::uint32_t kWrites = 40;  // of two threads together below the limit of reports
  void* const memory = driver.allocate(0, kBytes);
  const StreamRef streams[] = {{0, driver.make_stream(0, Priority::Normal)},
                               {0, driver.make_stream(0, Priority::Normal)}};
  for (std::uint32_t i = 0; i < kWrites; ++i) driver.fill(streams[i % 2], memory, 0, kBytes, {"own", first_line + i});
}

TEST_CASE("a report is made on the thread that has asked for the work") {
  VirtualSettings settings;
  settings.check_order = true;
  const std::unique_ptr<Driver> driver = make_virtual_driver(settings);
  std::mutex mutex;
  std::map<std::thread::id, std::vector<std::uint32_t>> lines;
  tell_order_reports_to([&](const OrderReport& report) {
    const std::lock_guard lock(mutex);
    lines[std::this_thread::get_id()].push_back(report.second.line);
  });
  std::vector<std::thread> threads;
  std::latch all_here(2);
  for (const std::uint32_t first : {1000U, 2000U}) {
    threads.emplace_back([&, first] {
      all_here.arrive_and_wait();
      write_without_order(*driver, first);
    });
  }
  for (std::thread& thread : threads) thread.join();
  tell_order_reports_to({});
  REQUIRE(lines.size() == 2);
  for (const auto& [thread, own] : lines) {
    for (const std::uint32_t line : own) CHECK(line / 1000 == own.front() / 1000);
  }
}

}  // namespace
}  // namespace distrun::device
