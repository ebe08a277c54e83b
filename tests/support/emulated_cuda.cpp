#include "emulated_cuda.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/drivers/cuda/cuda_driver.hpp>
#include <distrun/runtime/device/drivers/cuda/dispatch.hpp>

namespace distrun::testing {
namespace {

using namespace device;

constexpr int kFailed = 1;

auto& beneath = *new std::unique_ptr<Driver>;  // never destroyed: a test may leave the driver in use
int devices = 0;
thread_local std::string last_text;
thread_local bool in_callback = false;
auto& while_recording = *new std::function<void()>;

StreamRef stream_of(int device, std::uint64_t number) { return {device, StreamId{number}}; }

template <class Call>
int attempt(const Call& call) {
  if (in_callback) {  // also where the caller would ignore an error, as destructors do
    std::fputs("a host callback used CUDA\n", stderr);
    std::abort();
  }
  try {
    call();
    return 0;
  } catch (const base::Error& error) {
    last_text = error.what();
    return error.kind() == ErrorKind::Overloaded ? DISTRUN_CUDA_OUT_OF_MEMORY : kFailed;
  }
}

int attempt_query(bool (*query)(int, std::uint64_t), int device, std::uint64_t number) {
  bool is_over = false;
  const int error = attempt([&] { is_over = query(device, number); });
  return error != 0 || is_over ? error : static_cast<int>(DISTRUN_CUDA_NOT_READY);
}

const char* text(int error) {
  switch (error) {
    case DISTRUN_CUDA_OUT_OF_MEMORY: return "out of memory";
    case DISTRUN_CUDA_NOT_READY: return "not ready";
    default: return last_text.c_str();
  }
}

// ---- devices and memory

int count(int* number) {
  return attempt([&] { *number = devices; });
}

int properties(int device, distrun_cuda_properties* to) {
  return attempt([&] {
    const Properties found = beneath->properties(device);
    std::snprintf(to->name, sizeof to->name, "emulated %s", found.name.c_str());
    std::snprintf(to->uuid, sizeof to->uuid, "emulated-%s", found.uuid.c_str());
    to->memory_bytes = found.memory_bytes;
    to->multiprocessors = found.multiprocessors;
    to->clock_hz = found.clock_hz;
  });
}

int can_access_peer(int device, int peer, int* can) {
  return attempt([&] { *can = beneath->can_access_peer(device, peer) ? 1 : 0; });
}
int enable_peer(int, int) {
  return attempt([] {});
}

int allocate(int device, std::size_t bytes, void** memory) {
  return attempt([&] { *memory = beneath->allocate(device, bytes); });
}
int release(int device, void* memory) {
  return attempt([&] { beneath->free(device, memory); });
}
int free_bytes(int device, std::size_t* bytes) {
  return attempt([&] { *bytes = beneath->free_bytes(device); });
}

// Pinned memory with its limit.
class Pinned {
 public:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > limit_ || taken_ > limit_ - bytes) throw Error(ErrorKind::Overloaded, "no more pinned memory");
    void* const memory = beneath->allocate_pinned(bytes);
    sizes_[memory] = bytes;
    taken_ += bytes;
    return memory;
  }
  void give(void* memory) {
    const std::lock_guard lock(mutex_);
    beneath->free_pinned(memory);
    taken_ -= sizes_.at(memory);
    sizes_.erase(memory);
  }
  void limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
  }

 private:
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<void*, std::size_t> sizes_;
  std::size_t taken_ = 0;
  std::size_t limit_ = SIZE_MAX;
};
auto& pinned = *new Pinned;

int allocate_pinned(std::size_t bytes, void** memory) {
  return attempt([&] { *memory = pinned.take(bytes); });
}
int release_pinned(void* memory) {
  return attempt([&] { pinned.give(memory); });
}
int device_of(const void* memory, int* device) {
  return attempt([&] { *device = beneath->device_of(memory); });
}

// ---- streams and events

int make_stream(int device, int high_priority, std::uint64_t* stream) {
  return attempt([&] {
    const Priority priority = high_priority != 0 ? Priority::High : Priority::Normal;
    *stream = static_cast<std::uint64_t>(beneath->make_stream(device, priority));
  });
}
int destroy_stream(int device, std::uint64_t stream) {
  return attempt([&] { beneath->destroy_stream(stream_of(device, stream)); });
}
int query_stream(int device, std::uint64_t stream) {
  return attempt_query([](int on, std::uint64_t number) { return beneath->is_idle(stream_of(on, number)); }, device,
                       stream);
}
int wait_for_stream(int device, std::uint64_t stream) {
  return attempt([&] { beneath->synchronize(stream_of(device, stream)); });
}
int wait_for_device(int device) {
  return attempt([&] { beneath->synchronize_device(device); });
}

int make_event(int device, int timing, int interprocess, std::uint64_t* event) {
  return attempt([&] {
    const EventOptions options{.timing = timing != 0, .interprocess = interprocess != 0};
    *event = static_cast<std::uint64_t>(beneath->make_event(device, options));
  });
}
int destroy_event(int device, std::uint64_t event) {
  return attempt([&] { beneath->destroy_event(device, EventId{event}); });
}
int record(int device, std::uint64_t stream, std::uint64_t event) {
  return attempt([&] {
    if (while_recording) while_recording();
    beneath->record(stream_of(device, stream), EventId{event});
  });
}
int stream_waits(int device, std::uint64_t stream, std::uint64_t event) {
  return attempt([&] { beneath->wait(stream_of(device, stream), EventId{event}); });
}
int query_event(std::uint64_t event) {
  return attempt_query([](int, std::uint64_t number) { return beneath->is_done(EventId{number}); }, 0, event);
}
int wait_for_event(std::uint64_t event) {
  return attempt([&] { beneath->synchronize(EventId{event}); });
}
int elapsed(std::uint64_t from, std::uint64_t to, float* milliseconds) {
  for (const std::uint64_t event : {from, to}) {
    if (const int error = query_event(event); error != 0) return error;
  }
  return attempt([&] {
    const base::Nanoseconds between = beneath->elapsed(EventId{from}, EventId{to});
    *milliseconds = static_cast<float>(static_cast<double>(between.count()) / 1e6);
  });
}

// ---- work

// Source and destination of a copy must not overlap.
int copy(int device, std::uint64_t stream, void* to, const void* from, std::size_t bytes) {
  return attempt([&] {
    const auto first = reinterpret_cast<std::uintptr_t>(to), second = reinterpret_cast<std::uintptr_t>(from);
    if (first < second + bytes && second < first + bytes) {
      throw base::Error(ErrorKind::InvalidArgument, "copied bytes overlap");
    }
    beneath->copy(stream_of(device, stream), to, from, bytes);
  });
}
int fill_bytes(int device, std::uint64_t stream, void* memory, int byte, std::size_t bytes) {
  return attempt([&] { beneath->fill(stream_of(device, stream), memory, byte, bytes); });
}
int call_host(int device, std::uint64_t stream, void (*body)(void*), void* context) {
  return attempt([&] {
    beneath->call_host(stream_of(device, stream), [body, context] {
      in_callback = true;
      body(context);
      in_callback = false;
    });
  });
}
int busy(int device, std::uint64_t stream, std::uint64_t cycles) {
  return attempt([&] { beneath->busy(stream_of(device, stream), cycles); });
}

// ---- kernels

constexpr std::int64_t kElementBytes[] = {1, 1, 1, 2, 4, 8, 4, 8};

Region region_of(const distrun_cuda_kernel& kernel, int number) {
  const distrun_cuda_operand& operand = kernel.operand[number];
  const std::int64_t bytes = kElementBytes[operand.type];
  Region region;
  region.begin = operand.address;
  region.element_bytes = static_cast<std::size_t>(bytes);
  region.access = number == 0 ? Access::Write : Access::Read;
  for (int dim = 0; dim < kernel.dims; ++dim) {
    region.sizes.push_back(kernel.sizes[dim]);
    DISTRUN_ASSERT(operand.strides[dim] % bytes == 0);
    region.strides.push_back(operand.strides[dim] / bytes);
  }
  return region;
}

// Runs a kernel as the real module does, with a loop in place of a GPU's threads.
struct Loop {
  template <class Operation, class Walk>
  int operator()(const Operation& operation, const Walk& walk, std::uint64_t elements) const {
    for (std::uint64_t i = 0; i < elements; ++i) operation(walk.at(i));
    return 0;
  }
};
struct Nothing {
  template <class Operation, class Walk>
  int operator()(const Operation&, const Walk&, std::uint64_t) const {
    return 0;
  }
};

// Maps each operand to a region. An input that is also the output shares its region, so that a race is reported once.
struct Regions {
  std::vector<Region> all;
  int of[DISTRUN_CUDA_OPERANDS] = {-1, -1, -1, -1};  // -1: a number

  explicit Regions(const distrun_cuda_kernel& kernel) {
    for (int i = 0; i < kernel.operands; ++i) {
      if (kernel.operand[i].address == nullptr) continue;
      Region region = region_of(kernel, i);
      if (i > 0 && region.begin == all[0].begin && region.strides == all[0].strides) {
        all[0].access = Access::ReadWrite;
        of[i] = 0;
      } else {
        of[i] = static_cast<int>(all.size());
        all.push_back(std::move(region));
      }
    }
  }
};

int launch(int device, std::uint64_t stream, const distrun_cuda_kernel* kernel) {
  if (distrun_cuda::dispatch(*kernel, Nothing()) == DISTRUN_CUDA_NO_KERNEL) return DISTRUN_CUDA_NO_KERNEL;
  const Regions regions(*kernel);
  const auto body = [given = *kernel, regions](const std::vector<Region>& placed) {
    distrun_cuda_kernel there = given;
    for (int i = 0; i < there.operands; ++i) {
      if (regions.of[i] >= 0) there.operand[i].address = placed[static_cast<std::size_t>(regions.of[i])].begin;
    }
    distrun_cuda::dispatch(there, Loop());
  };
  return attempt([&] { beneath->launch(stream_of(device, stream), {kernel->operation, regions.all, body, {}}); });
}

// ---- other processes

// A virtual driver's handle has one word more than CUDA's: the last is unused for memory, the fifth for events.
enum class Unused : std::size_t { OfMemory = 8, OfEvent = 4 };
constexpr std::size_t kWords = DISTRUN_CUDA_HANDLE_SIZE / sizeof(std::uint64_t) + 1;

void shorten(const IpcHandle& handle, Unused unused, unsigned char* to) {
  std::uint64_t words[kWords];
  DISTRUN_ASSERT(handle.bytes.size() == sizeof words);
  std::memcpy(words, handle.bytes.data(), sizeof words);
  const auto left_out = static_cast<std::size_t>(unused);
  DISTRUN_ASSERT(words[left_out] == 0);
  std::memmove(words + left_out, words + left_out + 1, (kWords - left_out - 1) * sizeof *words);
  std::memcpy(to, words, DISTRUN_CUDA_HANDLE_SIZE);
}

IpcHandle lengthen(const unsigned char* handle, Unused unused) {
  std::uint64_t words[kWords] = {};
  std::memcpy(words, handle, DISTRUN_CUDA_HANDLE_SIZE);
  const auto left_out = static_cast<std::size_t>(unused);
  std::memmove(words + left_out + 1, words + left_out, (kWords - left_out - 1) * sizeof *words);
  words[left_out] = 0;
  IpcHandle made;
  made.bytes.resize(sizeof words);
  std::memcpy(made.bytes.data(), words, sizeof words);
  return made;
}

int export_memory(int, void* begin, unsigned char* handle) {
  std::size_t offset = 0;
  return attempt([&] { shorten(beneath->export_memory(begin, &offset), Unused::OfMemory, handle); });
}
int import_memory(int device, const unsigned char* handle, void** memory) {
  return attempt([&] { *memory = beneath->import_memory(device, lengthen(handle, Unused::OfMemory)); });
}
int close_imported(int device, void* memory) {
  return attempt([&] { beneath->close_imported(device, memory); });
}
int export_event(std::uint64_t event, unsigned char* handle) {
  return attempt([&] { shorten(beneath->export_event(EventId{event}), Unused::OfEvent, handle); });
}
int import_event(int device, const unsigned char* handle, std::uint64_t* event) {
  return attempt(
      [&] { *event = static_cast<std::uint64_t>(beneath->import_event(device, lengthen(handle, Unused::OfEvent))); });
}

const distrun_cuda_module kModule{
    sizeof(distrun_cuda_module),
    DISTRUN_CUDA_ABI,
    text,
    count,
    properties,
    can_access_peer,
    enable_peer,
    allocate,
    release,
    free_bytes,
    allocate_pinned,
    release_pinned,
    device_of,
    make_stream,
    destroy_stream,
    query_stream,
    wait_for_stream,
    wait_for_device,
    make_event,
    destroy_event,
    record,
    stream_waits,
    query_event,
    wait_for_event,
    elapsed,
    copy,
    fill_bytes,
    call_host,
    busy,
    export_memory,
    import_memory,
    close_imported,
    export_event,
    import_event,
    launch,
};

}  // namespace

std::unique_ptr<Driver> make_emulated_cuda(const VirtualSettings& settings) {
  static pid_t owner = 0;
  if (owner != ::getpid()) static_cast<void>(beneath.release());  // a forked child lacks the driver's threads
  owner = ::getpid();
  beneath = make_virtual_driver(settings);
  devices = settings.devices;
  pinned.limit(SIZE_MAX);
  return make_cuda_driver(kModule, devices);
}

void call_while_recording(std::function<void()> body) { while_recording = std::move(body); }

void limit_pinned_memory(std::size_t bytes) { pinned.limit(bytes); }

}  // namespace distrun::testing
