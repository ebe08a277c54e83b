#include <distrun/runtime/device/drivers/cuda/cuda_driver.hpp>

#include <unistd.h>

#include <atomic>
#include <optional>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/byte_text.hpp>
#include <distrun/runtime/device/drivers/cuda/check.hpp>
#include <distrun/runtime/device/drivers/cuda/handle.hpp>
#include <distrun/runtime/device/drivers/cuda/own_kernels.hpp>
#include <distrun/runtime/device/drivers/cuda/records.hpp>
#include <distrun/runtime/device/drivers/cuda/staging.hpp>

namespace distrun::device {
namespace {

std::uint64_t number(StreamRef stream) { return static_cast<std::uint64_t>(stream.id); }
std::uint64_t number(EventId event) { return static_cast<std::uint64_t>(event); }

class Cuda final : public Driver {
 public:
  Cuda(const distrun_cuda_module& module, int devices);

  std::string_view name() const noexcept override { return "cuda"; }
  int device_count() const noexcept override { return devices_; }
  Properties properties(int device) const override;
  bool can_access_peer(int device, int peer) const override;

  void* allocate(int device, std::size_t bytes) override;
  void free(int device, void* memory) override;
  std::size_t free_bytes(int device) const override;
  void* allocate_pinned(std::size_t bytes) override;
  void free_pinned(void* memory) override { check(module_.release_pinned(memory), "free pinned memory"); }

  StreamId make_stream(int device, Priority priority) override;
  void destroy_stream(StreamRef stream) override;
  bool is_idle(StreamRef stream) override;
  void synchronize(StreamRef stream) override;
  void synchronize_device(int device) override;

  EventId make_event(int device, EventOptions options) override;
  void destroy_event(int device, EventId event) override;
  void record(StreamRef stream, EventId event) override;
  void wait(StreamRef stream, EventId event) override;
  bool is_done(EventId event) override;
  void synchronize(EventId event) override { check(module_.wait_for_event(number(event)), "wait for an event"); }
  base::Nanoseconds elapsed(EventId from, EventId to) override;

  void copy(StreamRef stream, void* to, const void* from, std::size_t bytes, base::Location) override;
  void fill(StreamRef stream, void* memory, int byte, std::size_t bytes, base::Location) override;
  void launch(StreamRef stream, Kernel kernel, base::Location site) override;
  LaunchStatistics launch_statistics() const override;
  void call_host(StreamRef stream, std::function<void()> body) override;
  void busy(StreamRef stream, std::uint64_t cycles) override;

  IpcHandle export_memory(const void* memory, std::size_t* offset) override;
  void* import_memory(int device, const IpcHandle& handle) override;
  void close_imported(int device, void* memory) override;
  IpcHandle export_event(EventId event) override;
  EventId import_event(int device, const IpcHandle& handle) override;

  int device_of(const void* memory) const noexcept override;

 private:
  struct Callback;  // in flight
  static void call_back(void* context);

  CudaRecords::Made find_timed(EventId event) const;
  void check(int error, const char* doing) const { check_cuda(module_, error, doing); }
  void make_peers(const void* to, const void* from);

  const distrun_cuda_module& module_;
  const int devices_;
  const OwnKernels kernels_;
  CudaRecords records_;
  std::vector<std::atomic<bool>> are_peers_;  // by device and peer: access was enabled, if it is possible

  Staging staging_;  // the last member: it uses the driver until it is destroyed
};

struct Cuda::Callback {
  Cuda& driver;
  StreamRef stream;
  std::function<void()> body;
};

Cuda::Cuda(const distrun_cuda_module& module, int devices)
    : module_(module),
      devices_(devices),
      kernels_(module),
      are_peers_(static_cast<std::size_t>(devices) * static_cast<std::size_t>(devices)),
      staging_(*this, kernels_) {}

Properties Cuda::properties(int device) const {
  distrun_cuda_properties found{};
  check(module_.properties(device, &found), "query a device's properties");
  return {found.name, found.uuid, found.memory_bytes, found.multiprocessors, found.clock_hz};
}

bool Cuda::can_access_peer(int device, int peer) const {
  int can = device == peer ? 1 : 0;
  if (can == 0) check(module_.can_access_peer(device, peer, &can), "query peer access");
  return can != 0;
}

// ---- memory

void* Cuda::allocate(int device, std::size_t bytes) {
  void* memory = nullptr;
  const int error = module_.allocate(device, bytes, &memory);
  if (error == DISTRUN_CUDA_OUT_OF_MEMORY) {
    throw Error(ErrorKind::Overloaded, "OutOfMemoryError",
                to_string(cuda(device)) + " cannot allocate " + byte_text(bytes) +
                    " in one piece: " + byte_text(free_bytes(device)) + " are free");
  }
  check(error, "allocate memory");
  records_.add({static_cast<std::byte*>(memory), device, bytes});
  return memory;
}

void Cuda::free(int device, void* memory) {
  records_.remove_memory(device, memory);
  check(module_.release(device, memory), "free memory");
}

std::size_t Cuda::free_bytes(int device) const {
  std::size_t bytes = 0;
  check(module_.free_bytes(device, &bytes), "query free memory");
  return bytes;
}

void* Cuda::allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  const int error = module_.allocate_pinned(bytes, &memory);
  if (error == DISTRUN_CUDA_OUT_OF_MEMORY) {
    throw Error(ErrorKind::Overloaded, "OutOfMemoryError", "CUDA cannot pin " + byte_text(bytes) + " of the host");
  }
  check(error, "allocate pinned memory");
  return memory;
}

int Cuda::device_of(const void* memory) const noexcept {
  int device = -1;
  return module_.device_of(memory, &device) == 0 ? device : -1;
}

// ---- streams

StreamId Cuda::make_stream(int device, Priority priority) {
  std::uint64_t stream = 0;
  check(module_.make_stream(device, priority == Priority::High ? 1 : 0, &stream), "create a stream");
  return StreamId{stream};
}

void Cuda::destroy_stream(StreamRef stream) {
  check(module_.destroy_stream(stream.device, number(stream)), "destroy a stream");
  records_.forget_error(stream);
}

bool Cuda::is_idle(StreamRef stream) {
  const int error = module_.query_stream(stream.device, number(stream));
  if (error == DISTRUN_CUDA_NOT_READY) return false;
  check(error, "synchronize a stream");
  records_.throw_error(stream);
  return true;
}

void Cuda::synchronize(StreamRef stream) {
  check(module_.wait_for_stream(stream.device, number(stream)), "synchronize a stream");
  records_.throw_error(stream);
}

void Cuda::synchronize_device(int device) {
  check(module_.wait_for_device(device), "synchronize a device");
  records_.throw_error_of(device);
}

// ---- events

EventId Cuda::make_event(int device, EventOptions options) {
  if (options.timing && options.interprocess) {
    throw Error(ErrorKind::InvalidArgument, "an event for other processes cannot have timing");
  }
  std::uint64_t event = 0;
  check(module_.make_event(device, options.timing ? 1 : 0, options.interprocess ? 1 : 0, &event), "create an event");
  records_.add(EventId{event}, {device, options, false});
  return EventId{event};
}

void Cuda::destroy_event(int device, EventId event) {
  records_.remove(event);
  check(module_.destroy_event(device, number(event)), "destroy an event");
}

void Cuda::record(StreamRef stream, EventId event) {
  const CudaRecords::Made made = records_.find(event);
  if (made.device != stream.device) {
    throw Error(ErrorKind::InvalidArgument, "an event of " + to_string(cuda(made.device)) + " cannot be recorded on " +
                                                to_string(cuda(stream.device)));
  }
  check(module_.record(stream.device, number(stream), number(event)), "record an event");
  records_.set_recorded(event);
}

void Cuda::wait(StreamRef stream, EventId event) {
  check(module_.stream_waits(stream.device, number(stream), number(event)), "make a stream wait");
}

bool Cuda::is_done(EventId event) {
  const int error = module_.query_event(number(event));
  if (error == DISTRUN_CUDA_NOT_READY) return false;
  check(error, "synchronize an event");
  return true;
}

CudaRecords::Made Cuda::find_timed(EventId event) const {
  const CudaRecords::Made made = records_.find(event);
  if (!made.options.timing) {
    throw Error(ErrorKind::InvalidArgument, "both events must be created with timing to measure the time between them");
  }
  if (!made.recorded) {
    throw Error(ErrorKind::InvalidArgument, "both events must be recorded to measure the time between them");
  }
  return made;
}

base::Nanoseconds Cuda::elapsed(EventId from, EventId to) {
  find_timed(from);
  find_timed(to);
  float milliseconds = 0;
  const int error = module_.elapsed(number(from), number(to), &milliseconds);
  if (error == DISTRUN_CUDA_NOT_READY) {
    throw Error(ErrorKind::InvalidArgument,
                "both events must be complete to measure the time between them; synchronize first");
  }
  check(error, "measure the time between events");
  return base::Nanoseconds(static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6));
}

// ---- work

void Cuda::copy(StreamRef stream, void* to, const void* from, std::size_t bytes, base::Location) {
  if (bytes == 0) return;
  if (devices_ > 1) make_peers(to, from);
  check(module_.copy(stream.device, number(stream), to, from, bytes), "copy memory");
}

// Lets two devices access each other's memory before the first copy between them: until then a process has no context,
// with its time and memory, on devices that it does not use.
void Cuda::make_peers(const void* to, const void* from) {
  const int first = device_of(to), second = device_of(from);
  if (first < 0 || second < 0 || first == second) return;
  for (const auto& [device, peer] : {std::pair(first, second), std::pair(second, first)}) {
    std::atomic<bool>& are_peers = are_peers_[static_cast<std::size_t>(device * devices_ + peer)];
    if (are_peers) continue;
    if (can_access_peer(device, peer)) check(module_.enable_peer(device, peer), "enable peer access");
    are_peers = true;
  }
}

void Cuda::fill(StreamRef stream, void* memory, int byte, std::size_t bytes, base::Location) {
  if (bytes > 0) check(module_.fill_bytes(stream.device, number(stream), memory, byte, bytes), "fill memory");
}

void Cuda::launch(StreamRef stream, Kernel kernel, base::Location) {
  const char* const name = kernel.name;
  const bool own = kernels_.launch(stream, kernel);
  if (!own) staging_.launch(stream, std::move(kernel));
  records_.count_launch(name, own);
}

LaunchStatistics Cuda::launch_statistics() const { return records_.launches(); }

void Cuda::call_back(void* context) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(context));
  if (callback->driver.records_.has_error(callback->stream)) return;
  std::optional<base::Error> error;
  try {
    callback->body();
  } catch (const base::Error& thrown) {
    error = thrown;
  } catch (const std::exception& thrown) {
    error = base::Error(ErrorKind::Failed, thrown.what());
  }
  if (!error) return;
  error->while_doing(to_string(callback->stream));
  callback->driver.records_.keep(callback->stream, *error);
}

void Cuda::call_host(StreamRef stream, std::function<void()> body) {
  auto callback = std::unique_ptr<Callback>(new Callback{*this, stream, std::move(body)});
  check(module_.call_host(stream.device, number(stream), call_back, callback.get()), "enqueue a host function");
  static_cast<void>(callback.release());  // it deletes itself
}

void Cuda::busy(StreamRef stream, std::uint64_t cycles) {
  check(module_.busy(stream.device, number(stream), cycles), "launch a kernel");
}

// ---- other processes

IpcHandle Cuda::export_memory(const void* memory, std::size_t* offset) {
  const std::optional<CudaRecords::Allocation> found = records_.find_memory(memory);
  if (!found) throw Error(ErrorKind::InvalidArgument, "only device memory can be exported");
  *offset = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - found->begin);
  CudaHandle handle;
  handle.pid = ::getpid();
  check(module_.export_memory(found->device, found->begin, handle.bytes), "export memory");
  return pack(handle);
}

void* Cuda::import_memory(int device, const IpcHandle& handle) {
  void* memory = nullptr;
  check(module_.import_memory(device, unpack(handle).bytes, &memory), "import memory");
  return memory;
}

void Cuda::close_imported(int device, void* memory) {
  check(module_.close_imported(device, memory), "close imported memory");
}

IpcHandle Cuda::export_event(EventId event) {
  CudaHandle handle;
  handle.pid = ::getpid();
  check(module_.export_event(number(event), handle.bytes), "export an event");
  return pack(handle);
}

EventId Cuda::import_event(int device, const IpcHandle& handle) {
  std::uint64_t event = 0;
  check(module_.import_event(device, unpack(handle).bytes, &event), "import an event");
  records_.add(EventId{event}, {device, {.interprocess = true}, true});
  return EventId{event};
}

}  // namespace

std::unique_ptr<Driver> make_cuda_driver(const distrun_cuda_module& module, int devices) {
  return std::make_unique<Cuda>(module, devices);
}

}  // namespace distrun::device
