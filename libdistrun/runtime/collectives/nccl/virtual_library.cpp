#include <distrun/runtime/collectives/nccl/virtual_library.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/collectives/shm/shm_backend.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/device/gpu.hpp>

namespace distrun::collectives {
namespace {

using device::Access;
using device::Region;
using nccl_line::Communicator;
using nccl_line::Failure;
using nccl_line::Id;
using nccl_line::Joining;
using nccl_line::Library;

// Moves the bytes of a communicator, and keeps its state. Shared with the work on streams.
struct Mover {
  explicit Mover(std::unique_ptr<HostBackend> made) : backend(std::move(made)) {}

  void run(const Call& call) noexcept;
  Failure failure() const {
    const std::lock_guard lock(mutex);
    return failed;
  }

  const std::unique_ptr<HostBackend> backend;
  mutable std::mutex mutex;
  Failure failed;           // guarded by mutex
  bool is_aborted = false;  // guarded by mutex
};

// Calls after a failed one do nothing, as if they were done.
void Mover::run(const Call& call) noexcept {
  {
    const std::lock_guard lock(mutex);
    if (is_aborted || failed.why != nullptr) return;
  }
  try {
    backend->run(call);
  } catch (...) {
    const std::lock_guard lock(mutex);
    failed = {std::current_exception(), call.number};
  }
}

// A call in flight, with the device's addresses once the stream has reached it.
struct Moving {
  Call call;
  std::shared_ptr<Mover> mover;
  core::RankState& rank;  // the caller's

  // `regions` are in the order of regions_of().
  void place(const std::vector<Region>& regions) {
    auto at = regions.begin();
    for (ConstBytes& each : call.in) each = {static_cast<const std::byte*>((at++)->begin), each.size()};
    for (Bytes& each : call.out) each = {static_cast<std::byte*>((at++)->begin), each.size()};
  }
  void move() noexcept {
    core::ThreadState state;
    state.rank = &rank;
    const core::ThreadStateGuard guard(std::move(state));
    mover->run(call);
  }
};

std::vector<Region> regions_of(const Call& call) {
  std::vector<Region> all;
  for (const ConstBytes& each : call.in) all.push_back(device::flat_region(each.data(), each.size(), Access::Read));
  for (const Bytes& each : call.out) all.push_back(device::flat_region(each.data(), each.size(), Access::Write));
  return all;
}

class VirtualCommunicator final : public Communicator {
 public:
  explicit VirtualCommunicator(std::unique_ptr<HostBackend> backend)
      : mover_(std::make_shared<Mover>(std::move(backend))) {}

  void put(const Call& call, device::StreamRef stream) override {
    device::Driver& driver = device::gpu_driver();
    const auto moving = std::make_shared<Moving>(Moving{call, mover_, core::rank_state()});
    device::Kernel kernel;
    kernel.name = name_of(call.kind);
    kernel.regions = regions_of(call);
    kernel.body = [moving](const std::vector<Region>& placed) { moving->place(placed); };
    driver.launch(stream, std::move(kernel), call.site);
    driver.call_host(stream, [moving] { moving->move(); });
  }
  Failure failure() override { return mover_->failure(); }
  std::vector<int> missing() const override { return mover_->backend->missing(); }
  void abort(const std::string& why) noexcept override {
    {
      const std::lock_guard lock(mover_->mutex);
      mover_->is_aborted = true;
    }
    mover_->backend->leave(Leaving::GaveUp, why);
  }
  void close() noexcept override { mover_->backend->leave(Leaving::Done, ""); }
  std::unique_ptr<Communicator> split(const GroupInfo&, int, base::TimePoint) override {
    throw Error(ErrorKind::Unimplemented, "virtual communicators cannot be split");
  }

 private:
  const std::shared_ptr<Mover> mover_;
};

class VirtualLibrary final : public Library {
 public:
  explicit VirtualLibrary(Store& store) : store_(store) {}

  nccl_line::Version version() const override { return kVirtualVersion; }
  // Creates a name for a place in the store.
  Id make_id() override {
    Id id{};
    const std::string name = std::to_string(base::random_seed());
    std::memcpy(id.data(), name.data(), std::min(name.size(), id.size() - 1));
    return id;
  }
  std::unique_ptr<Communicator> connect(const Joining& joining) override {
    // The store is only used while the ranks meet.
    const std::shared_ptr<Store> borrowed(std::shared_ptr<Store>(), &store_);
    // The name comes from another rank: it may not be null-terminated.
    PrefixStore own(std::string(joining.id.data(), ::strnlen(joining.id.data(), joining.id.size())), borrowed);
    return std::make_unique<VirtualCommunicator>(make_shm_backend(joining.group, own, joining.deadline, {}));
  }
  bool compares() const noexcept override { return true; }
  bool splits() const noexcept override { return false; }
  std::string ras_address() const override { return ""; }

 private:
  Store& store_;
};

}  // namespace

std::unique_ptr<Library> make_virtual_library(Store& store) { return std::make_unique<VirtualLibrary>(store); }

}  // namespace distrun::collectives
