// The NCCL module: the library behind nccl_line.hpp. Built where NCCL's header is available, as
// lib/distrun/distrun_nccl.so, with the static CUDA runtime. libnccl.so.2 is searched when the module is first used
// (library_files.hpp), so that a package also runs on machines that have only the driver, and says what is missing.
//
// Communicators are nonblocking: while NCCL has not accepted a call, its state is polled until the call's deadline, or
// until the communicator is aborted.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <distrun/runtime/collectives/nccl/library_files.hpp>
#include <distrun/runtime/collectives/nccl/nccl_calls.hpp>
#include <distrun/runtime/collectives/nccl/nccl_line.hpp>

namespace {

using namespace distrun::collectives;
using namespace distrun::collectives::nccl_line;
namespace device = distrun::device;
namespace base = distrun::base;
using distrun::DType;

constexpr std::chrono::microseconds kRest{50};  // between polls
constexpr Version kFirstWithRas{2, 24, 0};

// The functions of the loaded library.
struct Functions {
  decltype(&::ncclGetVersion) get_version = nullptr;
  decltype(&::ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&::ncclCommInitRankConfig) init_rank = nullptr;
  decltype(&::ncclCommFinalize) finalize = nullptr;
  decltype(&::ncclCommDestroy) destroy = nullptr;
  decltype(&::ncclCommAbort) abort = nullptr;
  decltype(&::ncclCommSplit) split = nullptr;  // null: the library is too old
  decltype(&::ncclCommGetAsyncError) get_async_error = nullptr;
  decltype(&::ncclGetErrorString) get_error_string = nullptr;
  decltype(&::ncclGetLastError) get_last_error = nullptr;
  decltype(&::ncclGroupStart) group_start = nullptr;
  decltype(&::ncclGroupEnd) group_end = nullptr;
  decltype(&::ncclAllReduce) all_reduce = nullptr;
  decltype(&::ncclBroadcast) broadcast = nullptr;
  decltype(&::ncclReduce) reduce = nullptr;
  decltype(&::ncclAllGather) all_gather = nullptr;
  decltype(&::ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&::ncclSend) send = nullptr;
  decltype(&::ncclRecv) receive = nullptr;
};

Functions functions;  // set by open()

std::string text_of(ncclResult_t result, ncclComm_t communicator) {
  std::string text = std::string("NCCL says: ") + functions.get_error_string(result);
  const char* const last = functions.get_last_error(communicator);
  if (last != nullptr && *last != '\0') text += std::string("; its last error: ") + last;
  return text;
}

void check_cuda(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string("cannot ") + doing + ": " + cudaGetErrorString(error));
}

ncclDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::U8: return ncclUint8;
    case DType::I8: return ncclInt8;
    case DType::I32: return ncclInt32;
    case DType::I64: return ncclInt64;
    case DType::F32: return ncclFloat32;
    case DType::F64: return ncclFloat64;
    default: throw std::runtime_error("NCCL does not support this dtype");
  }
}

// Bools are 0 or 1, so a sum is "or" and a product "and".
ncclRedOp_t operation_of(ReduceOp op, DType dtype) {
  const bool is_bool = dtype == DType::Bool;
  switch (op) {
    case ReduceOp::Sum: return is_bool ? ncclMax : ncclSum;
    case ReduceOp::Product: return is_bool ? ncclMin : ncclProd;
    case ReduceOp::Min: return ncclMin;
    case ReduceOp::Max: return ncclMax;
    case ReduceOp::Avg: return ncclAvg;
    default: throw std::runtime_error("NCCL does not support this reduction");
  }
}

class RealCommunicator final : public Communicator {
 public:
  RealCommunicator(int gpu, int place, int ranks);
  ~RealCommunicator() override;

  // Connects a new communicator.
  void connect(const Joining& joining);
  void put(const Call& call, device::StreamRef stream) override;
  Failure failure() override;
  void abort(const std::string& why) noexcept override;
  void close() noexcept override;
  std::unique_ptr<Communicator> split(const GroupInfo& group, int colour, base::TimePoint deadline) override;

 private:
  class Api;

  void use_gpu() const { check_cuda(cudaSetDevice(gpu_), "use the GPU"); }
  // Calls `function` with the communicator, and waits until NCCL has accepted it.
  template <class Function>
  void ask(base::TimePoint deadline, const Function& function);
  void wait_until_taken(base::TimePoint deadline);
  ncclResult_t state();

  const int gpu_, place_, ranks_;
  std::atomic<bool> is_aborted_{false};
  std::mutex mutex_;
  ncclComm_t communicator_ = nullptr;  // guarded by mutex_; null: aborted or closed
  void* scratch_ = nullptr;            // an element on the GPU, for barriers
};

// The API for nccl_calls.hpp. Each function calls NCCL at once, with the lock held.
class RealCommunicator::Api {
 public:
  Api(ncclComm_t communicator, cudaStream_t stream, void* scratch)
      : communicator_(communicator), stream_(stream), scratch_(scratch) {}

  void begin_group() { take(functions.group_start()); }
  void end_group() { take(functions.group_end()); }
  void barrier() { take(functions.all_reduce(scratch_, scratch_, 1, ncclInt8, ncclSum, communicator_, stream_)); }
  void broadcast(const void* from, void* to, std::size_t bytes, int root) {
    take(functions.broadcast(from, to, bytes, ncclUint8, root, communicator_, stream_));
  }
  void all_gather(const void* from, void* to, std::size_t bytes) {
    take(functions.all_gather(from, to, bytes, ncclUint8, communicator_, stream_));
  }
  void all_reduce(const void* from, void* to, std::size_t elements, DType dtype, ReduceOp op) {
    take(functions.all_reduce(from, to, elements, type_of(dtype), operation_of(op, dtype), communicator_, stream_));
  }
  void reduce(const void* from, void* to, std::size_t elements, DType dtype, ReduceOp op, int root) {
    take(functions.reduce(from, to, elements, type_of(dtype), operation_of(op, dtype), root, communicator_, stream_));
  }
  void reduce_scatter(const void* from, void* to, std::size_t elements, DType dtype, ReduceOp op) {
    take(functions.reduce_scatter(from, to, elements, type_of(dtype), operation_of(op, dtype), communicator_, stream_));
  }
  void send(const void* from, std::size_t bytes, int rank) {
    take(functions.send(from, bytes, ncclUint8, rank, communicator_, stream_));
  }
  void receive(void* to, std::size_t bytes, int rank) {
    take(functions.receive(to, bytes, ncclUint8, rank, communicator_, stream_));
  }

 private:
  void take(ncclResult_t result) {
    if (result != ncclSuccess && result != ncclInProgress) throw std::runtime_error(text_of(result, communicator_));
  }

  ncclComm_t communicator_;
  cudaStream_t stream_;
  void* scratch_;
};

RealCommunicator::RealCommunicator(int gpu, int place, int ranks) : gpu_(gpu), place_(place), ranks_(ranks) {
  use_gpu();
  check_cuda(cudaMalloc(&scratch_, 1), "allocate on the GPU");
}

RealCommunicator::~RealCommunicator() {
  abort("");
  if (cudaSetDevice(gpu_) == cudaSuccess) cudaFree(scratch_);
  cudaGetLastError();
}

ncclResult_t RealCommunicator::state() {
  const std::lock_guard lock(mutex_);
  if (communicator_ == nullptr) throw std::runtime_error("the communicator was aborted");
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = functions.get_async_error(communicator_, &state);
  const ncclResult_t wrong = asked != ncclSuccess ? asked : state;
  if (wrong != ncclSuccess && wrong != ncclInProgress) throw std::runtime_error(text_of(wrong, communicator_));
  return wrong;
}

void RealCommunicator::wait_until_taken(base::TimePoint deadline) {
  while (state() == ncclInProgress) {
    if (is_aborted_) throw std::runtime_error("the communicator was aborted");
    if (std::chrono::steady_clock::now() >= deadline) throw std::runtime_error("NCCL did not start in time");
    std::this_thread::sleep_for(kRest);
  }
}

template <class Function>
void RealCommunicator::ask(base::TimePoint deadline, const Function& function) {
  {
    const std::lock_guard lock(mutex_);
    function(communicator_);
  }
  wait_until_taken(deadline);
}

void RealCommunicator::connect(const Joining& joining) {
  ncclUniqueId id;
  static_assert(sizeof id.internal == sizeof(Id));
  std::memcpy(id.internal, joining.id.data(), sizeof id.internal);
  ask(joining.deadline, [&](ncclComm_t& made) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    const ncclResult_t result = functions.init_rank(&made, ranks_, id, place_, &config);
    if (result != ncclSuccess && result != ncclInProgress) throw std::runtime_error(text_of(result, nullptr));
  });
}

void RealCommunicator::put(const Call& call, device::StreamRef stream) {
  use_gpu();
  const auto handle = reinterpret_cast<cudaStream_t>(static_cast<std::uintptr_t>(stream.id));
  ask(call.deadline, [&](ncclComm_t there) {
    if (there == nullptr) throw std::runtime_error("the communicator was aborted");
    Api api(there, handle, scratch_);
    make_call(api, call, place_, ranks_);
  });
}

Failure RealCommunicator::failure() {
  if (is_aborted_) return {};
  try {
    state();
    return {};
  } catch (...) {
    return {std::current_exception(), 0};
  }
}

void RealCommunicator::abort(const std::string&) noexcept {
  is_aborted_ = true;
  const std::lock_guard lock(mutex_);
  if (communicator_ == nullptr) return;
  functions.abort(communicator_);
  communicator_ = nullptr;
}

// Flushes pending work, without waiting long for ranks that do not close.
void RealCommunicator::close() noexcept {
  constexpr std::chrono::seconds kLongest{2};
  try {
    ask(std::chrono::steady_clock::now() + kLongest, [](ncclComm_t there) {
      if (there != nullptr) functions.finalize(there);
    });
  } catch (const std::exception&) {
    return abort("");
  }
  const std::lock_guard lock(mutex_);
  if (communicator_ != nullptr) functions.destroy(communicator_);
  communicator_ = nullptr;
}

std::unique_ptr<Communicator> RealCommunicator::split(const GroupInfo& group, int colour, base::TimePoint deadline) {
  use_gpu();
  const bool is_in = group.size() > 0;
  auto made = is_in ? std::make_unique<RealCommunicator>(gpu_, group.rank, group.size()) : nullptr;
  ncclComm_t child = nullptr;
  ask(deadline, [&](ncclComm_t there) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    const ncclResult_t result =
        functions.split(there, is_in ? colour : NCCL_SPLIT_NOCOLOR, is_in ? group.rank : 0, &child, &config);
    if (result != ncclSuccess && result != ncclInProgress) throw std::runtime_error(text_of(result, there));
  });
  if (!is_in) return nullptr;
  {
    const std::lock_guard lock(made->mutex_);
    made->communicator_ = child;
  }
  made->wait_until_taken(deadline);
  return made;
}

class RealLibrary final : public Library {
 public:
  Version version() const override {
    int code = 0;
    functions.get_version(&code);
    return {code / 10000, code / 100 % 100, code % 100};
  }
  Id make_id() override {
    ncclUniqueId made;
    const ncclResult_t result = functions.get_unique_id(&made);
    if (result != ncclSuccess) throw std::runtime_error(text_of(result, nullptr));
    Id id{};
    std::memcpy(id.data(), made.internal, id.size());
    return id;
  }
  std::unique_ptr<Communicator> connect(const Joining& joining) override {
    auto made = std::make_unique<RealCommunicator>(joining.gpu.index, joining.group.rank, joining.group.size());
    made->connect(joining);
    return made;
  }
  bool compares() const noexcept override { return false; }
  bool splits() const noexcept override { return functions.split != nullptr; }
  // Reads the same variables as NCCL.
  std::string ras_address() const override {
    const char* const enabled = std::getenv("NCCL_RAS_ENABLE");
    const char* const address = std::getenv("NCCL_RAS_ADDR");
    if (version() < kFirstWithRas || (enabled != nullptr && std::strcmp(enabled, "0") == 0)) return "";
    return address != nullptr ? address : "localhost:28028";
  }
};

// The first version with all of the above except ncclCommSplit: it has nonblocking communicators.
constexpr int kLeastVersion = 21400;

std::string load(void* library) {
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  find(functions.get_version, "ncclGetVersion");
  find(functions.get_unique_id, "ncclGetUniqueId");
  find(functions.init_rank, "ncclCommInitRankConfig");
  find(functions.finalize, "ncclCommFinalize");
  find(functions.destroy, "ncclCommDestroy");
  find(functions.abort, "ncclCommAbort");
  find(functions.get_async_error, "ncclCommGetAsyncError");
  find(functions.get_error_string, "ncclGetErrorString");
  find(functions.get_last_error, "ncclGetLastError");
  find(functions.group_start, "ncclGroupStart");
  find(functions.group_end, "ncclGroupEnd");
  find(functions.all_reduce, "ncclAllReduce");
  find(functions.broadcast, "ncclBroadcast");
  find(functions.reduce, "ncclReduce");
  find(functions.all_gather, "ncclAllGather");
  find(functions.reduce_scatter, "ncclReduceScatter");
  find(functions.send, "ncclSend");
  find(functions.receive, "ncclRecv");
  functions.split = reinterpret_cast<decltype(functions.split)>(::dlsym(library, "ncclCommSplit"));
  return missing;
}

// Opens the first file of library_files() that can be loaded; returns null, and sets the reason, if all fail.
void* open_library(std::string& why_none) {
  std::string first_error;
  for (const std::string& file : library_files()) {
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    if (first_error.empty()) first_error = ::dlerror();
  }
  const char* const named = std::getenv(kLibraryVariable);
  const bool is_named = named != nullptr && *named != '\0';
  why_none = "there is no NCCL on this machine: " + first_error +
             (is_named ? std::string("; ") + kLibraryVariable + " names this file or its folder"
                       : std::string("; set ") + kLibraryVariable + " to the file " + kLibraryName + " or its folder");
  return nullptr;
}

Library* open(std::string& why_none) {
  static RealLibrary only;
  void* const library = open_library(why_none);
  if (library == nullptr) return nullptr;
  const std::string missing = load(library);
  int code = 0;
  if (missing.empty()) functions.get_version(&code);
  if (code >= kLeastVersion) return &only;
  why_none = "the NCCL of this machine is too old; 2.14 or later is required" +
             (missing.empty() ? "" : ": it has no " + missing);
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Module distrun_nccl_module{kVersion, &open};
