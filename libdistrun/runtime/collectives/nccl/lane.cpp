#include <distrun/runtime/collectives/nccl/lane.hpp>

#include <algorithm>
#include <map>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>

namespace distrun::collectives {
namespace {

using nccl_line::Communicator;
using nccl_line::Failure;
using nccl_line::Id;

// Reuses streams, since an allocator may refer later to a stream on which its memory was used. They are not from the
// pool, where a call that waits for others could block unrelated work on the same stream.
class Streams {
 public:
  device::Stream take(device::Device gpu) {
    const std::lock_guard lock(mutex_);
    std::vector<device::Stream>& idle = idle_[gpu];
    if (idle.empty()) return device::make_stream(gpu, device::Priority::High);
    const device::Stream stream = idle.back();
    idle.pop_back();
    return stream;
  }
  void give(device::Stream stream) {
    const std::lock_guard lock(mutex_);
    idle_[stream.device()].push_back(stream);
  }

 private:
  std::mutex mutex_;
  std::map<device::Device, std::vector<device::Stream>> idle_;  // guarded by mutex_
};

Streams& streams() {
  static auto* const only = new Streams;  // never destroyed: groups may end as late as the process
  return *only;
}

constexpr base::Nanoseconds kLookForGone = std::chrono::milliseconds(100);

std::string gone_key(int rank) { return "nccl/gone/" + std::to_string(rank); }

[[noreturn]] void refuse_same_gpu(const GroupInfo& group, int a, int b, const std::string& gpu) {
  const std::string ranks = std::to_string(group.size());
  throw Error(ErrorKind::InvalidArgument, "DistBackendError",
              "Duplicate GPU detected: " + ranks_text(group, {a, b}) + " of group " + group.name + " are both on GPU " +
                  gpu + ", but nccl needs one for each rank (with virtual GPUs: --gpus " + ranks + ")");
}

}  // namespace

Lane::Lane(std::string key, GroupInfo group, device::Device gpu)
    : key_(std::move(key)), group_(std::move(group)), gpu_(gpu), stream_(streams().take(gpu)) {}

Lane::~Lane() { streams().give(stream_); }

void Lane::go(Store& store, int rank, const std::string& why) noexcept {
  try {
    store.set(gone_key(rank), why);
  } catch (const std::exception&) {
    // The store has gone, too; waiting ranks notice it by other means.
  }
}

void Lane::refuse_if_gone(Store& store, int place) const {
  const int rank = group_.ranks[static_cast<std::size_t>(place)];
  if (!store.check({gone_key(rank)})) return;
  throw base::PeerFailed(
      name_of(group_, CallKind::Barrier, 0) + ": rank " + std::to_string(rank) + " " + store.get(gone_key(rank)), rank);
}

// Reads what another rank has stored, unless that rank has gone.
std::string Lane::read(Store& store, const std::string& what, int place, base::TimePoint deadline) const {
  const Call start = start_until(deadline);
  const std::string key = key_ + "/" + what;
  const stores::AwaitedRanks shown({group_.ranks[static_cast<std::size_t>(place)]});
  for (;;) {
    const base::Nanoseconds left = std::max(deadline - base::system_clock().now(), base::Nanoseconds::zero());
    try {
      store.wait({key}, std::min(left, kLookForGone));
      return store.get(key);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Timeout) throw;
    }
    refuse_if_gone(store, place);
    if (base::system_clock().now() >= deadline) throw_timeout(group_, start, {place});
  }
}

Id Lane::meet(nccl_line::Library& library, Store& store, base::TimePoint deadline) const {
  Id id{};
  if (group_.rank == 0) {
    id = library.make_id();
    store.set(key_ + "/id", std::string(id.begin(), id.end()));
  }
  const auto gpu_key = [](int place) { return "gpu/" + std::to_string(place); };
  const std::string own = device::gpu_driver().properties(gpu_.index).uuid;
  store.set(key_ + "/" + gpu_key(group_.rank), own);
  for (int place = 0; place < group_.size(); ++place) {
    if (place == group_.rank || read(store, gpu_key(place), place, deadline) != own) continue;
    refuse_same_gpu(group_, std::min(place, group_.rank), std::max(place, group_.rank), own);
  }
  if (group_.rank != 0) {
    const std::string told = read(store, "id", 0, deadline);
    std::copy_n(told.begin(), std::min(told.size(), id.size()), id.begin());
  }
  return id;
}

void Lane::connect(nccl_line::Library& library, Store& store, base::TimePoint deadline) {
  const nccl_line::Id id = meet(library, store, deadline);
  const std::string name = "the communicator of " + group_.name;
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.name = name;
  const core::Wait wait(info, deadline);
  try {
    use(library.connect({id, group_, gpu_, deadline}));
  } catch (const base::Error&) {
    throw;
  } catch (const std::exception& error) {  // the library's own message
    throw Error(ErrorKind::Failed, "DistBackendError",
                name_of(group_, CallKind::Barrier, 0) + ": " + std::string(error.what()));
  }
}

void Lane::use(std::unique_ptr<Communicator> communicator) {
  std::string aborted;
  {
    const std::lock_guard lock(mutex_);
    communicator_ = std::move(communicator);
    aborted = aborted_;
  }
  if (!aborted.empty()) abort(aborted);
}

std::shared_ptr<Communicator> Lane::communicator() const {
  const std::lock_guard lock(mutex_);
  return communicator_;
}

bool Lane::is_connected() const { return communicator() != nullptr; }

void Lane::put(PendingCall& call, const device::Event& before) {
  before.block(stream_);
  const device::StreamGuard guard(stream_);
  StreamCall& of = call.of();
  for (const Tensor& each : of.touched) each.record_stream(stream_);
  communicator()->put(of.call, stream_.ref());
  if (of.behind) of.behind();
  of.behind = nullptr;
  call.put_on(stream_);
}

Failure Lane::failure() {
  const auto there = communicator();
  return there == nullptr ? Failure() : there->failure();
}

std::vector<int> Lane::missing() const {
  const auto there = communicator();
  return there == nullptr ? std::vector<int>() : there->missing();
}

void Lane::abort(const std::string& why) noexcept {
  std::shared_ptr<Communicator> there;
  {
    const std::lock_guard lock(mutex_);
    aborted_ = why.empty() ? "it was aborted" : why;
    there = communicator_;
  }
  if (there != nullptr) there->abort(why);
}

void Lane::close() noexcept {
  if (const auto there = communicator()) there->close();
}

std::unique_ptr<Communicator> Lane::split(const GroupInfo& group, int colour, base::TimePoint deadline) {
  return communicator()->split(group, colour, deadline);
}

}  // namespace distrun::collectives
