// The CUDA module: the runtime API behind the plain functions of cuda_line.h, and the few kernels. Built by nvcc into
// lib/distrun/distrun_cuda.so, with the static CUDA runtime, so that nothing else in the process needs CUDA.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "cuda_line.h"
#include "dispatch.hpp"

namespace {

static_assert(DISTRUN_CUDA_OUT_OF_MEMORY == static_cast<int>(cudaErrorMemoryAllocation));
static_assert(DISTRUN_CUDA_NOT_READY == static_cast<int>(cudaErrorNotReady));
static_assert(DISTRUN_CUDA_HANDLE_SIZE == sizeof(cudaIpcMemHandle_t));
static_assert(DISTRUN_CUDA_HANDLE_SIZE == sizeof(cudaIpcEventHandle_t));

cudaStream_t stream_of(uint64_t number) { return reinterpret_cast<cudaStream_t>(number); }
cudaEvent_t event_of(uint64_t number) { return reinterpret_cast<cudaEvent_t>(number); }

// Clears a returned error, so that a later query of the last error does not see it.
int told(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error;
}

// Loads all kernels on the current device. CUDA would load each one when it is first launched, and may first wait for
// the whole device: for ever, if a stream waits for a host callback that waits for the caller.
void load_kernels();

// Runs the call with the device current, as most of CUDA requires.
template <class Call>
int on(int device, const Call& call) {
  constexpr int kDevices = 64;
  static std::once_flag loaded[kDevices];
  const cudaError_t error = cudaSetDevice(device);
  if (error == cudaSuccess && device < kDevices) std::call_once(loaded[device], load_kernels);
  return told(error != cudaSuccess ? error : call());
}

const char* text(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

// ---- devices

int count(int* devices) { return told(cudaGetDeviceCount(devices)); }

int properties(int device, distrun_cuda_properties* to) {
  cudaDeviceProp found;
  int khz = 0;
  cudaError_t error = cudaGetDeviceProperties(&found, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device);
  if (error != cudaSuccess) return told(error);
  std::snprintf(to->name, sizeof to->name, "%s", found.name);
  char* digits = to->uuid;
  for (const char byte : found.uuid.bytes) digits += std::sprintf(digits, "%02x", static_cast<unsigned char>(byte));
  to->memory_bytes = found.totalGlobalMem;
  to->multiprocessors = found.multiProcessorCount;
  to->clock_hz = static_cast<uint64_t>(khz) * 1000;
  return 0;
}

int can_access_peer(int device, int peer, int* can) { return told(cudaDeviceCanAccessPeer(can, device, peer)); }

int enable_peer(int device, int peer) {
  return on(device, [&] {
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    return error == cudaErrorPeerAccessAlreadyEnabled ? (cudaGetLastError(), cudaSuccess) : error;
  });
}

// ---- memory

int allocate(int device, size_t bytes, void** memory) {
  return on(device, [&] { return cudaMalloc(memory, bytes); });
}

int release(int device, void* memory) {
  return on(device, [&] { return cudaFree(memory); });
}

int free_bytes(int device, size_t* bytes) {
  size_t total = 0;
  return on(device, [&] { return cudaMemGetInfo(bytes, &total); });
}

int allocate_pinned(size_t bytes, void** memory) { return told(cudaHostAlloc(memory, bytes, cudaHostAllocPortable)); }
int release_pinned(void* memory) { return told(cudaFreeHost(memory)); }

int device_of(const void* memory, int* device) {
  cudaPointerAttributes found;
  const cudaError_t error = cudaPointerGetAttributes(&found, memory);
  *device = error == cudaSuccess && found.type == cudaMemoryTypeDevice ? found.device : -1;
  return told(error);
}

// ---- streams and events

// Creates a stream that does not synchronise with the default stream.
int make_stream(int device, int high_priority, uint64_t* stream) {
  return on(device, [&] {
    int least = 0;
    int greatest = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    cudaStream_t made = nullptr;
    if (error == cudaSuccess) {
      error = cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, high_priority ? greatest : least);
    }
    *stream = reinterpret_cast<uint64_t>(made);
    return error;
  });
}

int destroy_stream(int device, uint64_t stream) {
  return on(device, [&] { return cudaStreamDestroy(stream_of(stream)); });
}

int query_stream(int device, uint64_t stream) {
  return on(device, [&] { return cudaStreamQuery(stream_of(stream)); });
}

int wait_for_stream(int device, uint64_t stream) {
  return on(device, [&] { return cudaStreamSynchronize(stream_of(stream)); });
}

int wait_for_device(int device) {
  return on(device, [] { return cudaDeviceSynchronize(); });
}

int make_event(int device, int timing, int interprocess, uint64_t* event) {
  return on(device, [&] {
    const unsigned flags = (timing ? 0u : cudaEventDisableTiming) | (interprocess ? cudaEventInterprocess : 0u);
    cudaEvent_t made = nullptr;
    const cudaError_t error = cudaEventCreateWithFlags(&made, flags);
    *event = reinterpret_cast<uint64_t>(made);
    return error;
  });
}

int destroy_event(int device, uint64_t event) {
  return on(device, [&] { return cudaEventDestroy(event_of(event)); });
}

int record(int device, uint64_t stream, uint64_t event) {
  return on(device, [&] { return cudaEventRecord(event_of(event), stream_of(stream)); });
}

int stream_waits(int device, uint64_t stream, uint64_t event) {
  return on(device, [&] { return cudaStreamWaitEvent(stream_of(stream), event_of(event), 0); });
}

int query_event(uint64_t event) { return told(cudaEventQuery(event_of(event))); }
int wait_for_event(uint64_t event) { return told(cudaEventSynchronize(event_of(event))); }

int elapsed(uint64_t from, uint64_t to, float* milliseconds) {
  return told(cudaEventElapsedTime(milliseconds, event_of(from), event_of(to)));
}

// ---- work

int copy(int device, uint64_t stream, void* to, const void* from, size_t bytes) {
  return on(device, [&] { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream)); });
}

int fill_bytes(int device, uint64_t stream, void* memory, int byte, size_t bytes) {
  return on(device, [&] { return cudaMemsetAsync(memory, byte, bytes, stream_of(stream)); });
}

int call_host(int device, uint64_t stream, void (*body)(void*), void* context) {
  return on(device, [&] { return cudaLaunchHostFunc(stream_of(stream), body, context); });
}

__global__ void spin(uint64_t cycles) {
  const long long begin = clock64();
  while (static_cast<uint64_t>(clock64() - begin) < cycles) {
  }
}

int busy(int device, uint64_t stream, uint64_t cycles) {
  return on(device, [&] {
    spin<<<1, 1, 0, stream_of(stream)>>>(cycles);
    return cudaGetLastError();
  });
}

// ---- other processes

int export_memory(int device, void* begin, unsigned char* handle) {
  return on(device, [&] {
    cudaIpcMemHandle_t made;
    const cudaError_t error = cudaIpcGetMemHandle(&made, begin);
    std::memcpy(handle, &made, sizeof made);
    return error;
  });
}

int import_memory(int device, const unsigned char* handle, void** memory) {
  return on(device, [&] {
    cudaIpcMemHandle_t given;
    std::memcpy(&given, handle, sizeof given);
    return cudaIpcOpenMemHandle(memory, given, cudaIpcMemLazyEnablePeerAccess);
  });
}

int close_imported(int device, void* memory) {
  return on(device, [&] { return cudaIpcCloseMemHandle(memory); });
}

int export_event(uint64_t event, unsigned char* handle) {
  cudaIpcEventHandle_t made;
  const int error = told(cudaIpcGetEventHandle(&made, event_of(event)));
  std::memcpy(handle, &made, sizeof made);
  return error;
}

int import_event(int device, const unsigned char* handle, uint64_t* event) {
  return on(device, [&] {
    cudaIpcEventHandle_t given;
    std::memcpy(&given, handle, sizeof given);
    cudaEvent_t opened = nullptr;
    const cudaError_t error = cudaIpcOpenEventHandle(&opened, given);
    *event = reinterpret_cast<uint64_t>(opened);
    return error;
  });
}

// ---- kernels

constexpr unsigned kThreads = 256;
constexpr uint64_t kBlocksMax = 65535;

unsigned blocks_for(uint64_t elements) {
  const uint64_t wanted = (elements + kThreads - 1) / kThreads;
  return static_cast<unsigned>(wanted < kBlocksMax ? wanted : kBlocksMax);
}

template <class Operation, class Walk>
__global__ void each(Operation operation, Walk walk, uint64_t elements) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (uint64_t i = first; i < elements; i += step) operation(walk.at(i));
}

std::vector<const void*>& all_kernels() {
  static std::vector<const void*> all;
  return all;
}
int add_kernel(const void* kernel) {
  all_kernels().push_back(kernel);
  return 0;
}
// Each kernel that Launch may launch is in the list when the module is loaded.
template <class Operation, class Walk>
const int kIsListed = add_kernel(reinterpret_cast<const void*>(each<Operation, Walk>));

// An error is reported by the launch of that kernel.
void load_kernels() {
  cudaFuncAttributes ignored;
  for (const void* const kernel : all_kernels()) static_cast<void>(cudaFuncGetAttributes(&ignored, kernel));
  static_cast<void>(cudaFuncGetAttributes(&ignored, reinterpret_cast<const void*>(spin)));
  cudaGetLastError();
}

struct Launch {
  int device;
  uint64_t stream;

  template <class Operation, class Walk>
  int operator()(const Operation& operation, const Walk& walk, uint64_t elements) const {
    static_cast<void>(kIsListed<Operation, Walk>);
    return on(device, [&] {
      each<<<blocks_for(elements), kThreads, 0, stream_of(stream)>>>(operation, walk, elements);
      return cudaGetLastError();
    });
  }
};

int launch(int device, uint64_t stream, const distrun_cuda_kernel* kernel) {
  return distrun_cuda::dispatch(*kernel, Launch{device, stream});
}

// In the order of cuda_line.h.
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

extern "C" __attribute__((visibility("default"))) const distrun_cuda_module* distrun_cuda_entry() { return &kModule; }
