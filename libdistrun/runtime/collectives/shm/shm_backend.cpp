#include <distrun/runtime/collectives/shm/shm_backend.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/shm/exchange.hpp>
#include <distrun/runtime/collectives/shm/mail.hpp>
#include <distrun/runtime/collectives/shm/meeting.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>

namespace distrun::collectives {
namespace {

using shm::Contribution;
using shm::Take;

// Up to this size each rank reduces all bytes: a second exchange would cost more.
constexpr std::size_t kReduceWhole = std::size_t{16} << 10;

// The largest valid size.
constexpr std::uint64_t kSizeMost = std::numeric_limits<std::int64_t>::max();

// Read by other ranks to test whether they can.
const std::uint64_t probe = shm::kMagic;

void copy_own(ConstBytes from, Bytes into) {
  if (!into.empty() && from.data() != into.data()) std::memmove(into.data(), from.data(), into.size());
}

class ShmBackend final : public HostBackend {
 public:
  ShmBackend(const GroupInfo& group, std::shared_ptr<shm::Area> area, ShmOptions options)
      : group_(group),
        area_(std::move(area)),
        rank_(core::rank_state()),
        bells_(area_, group),
        exchanges_(area_, group, bells_),
        mail_(std::make_shared<shm::Mail>(area_, group, bells_)),
        options_(options) {
    area_->seat(group.rank).probe = reinterpret_cast<std::uint64_t>(&probe);
    area_->take_seat(group_.rank);
  }
  ~ShmBackend() override { leave(Leaving::Done, ""); }

  // Call once, before anything else.
  void join(base::TimePoint deadline);

  void run(const Call& call) override;
  std::unique_ptr<Transfer> begin_send(const PointToPoint& message, ConstBytes bytes) override {
    return mail_->send(message, bytes);
  }
  std::unique_ptr<Transfer> begin_receive(const PointToPoint& message, Bytes bytes) override {
    return mail_->receive(message, bytes);
  }
  void leave(Leaving how, const std::string& why) noexcept override;
  void prepare_to_stay() noexcept override { bells_.watch_all(); }
  std::vector<int> missing() const override { return exchanges_.missing(); }

 private:
  bool is_root(const Call& call) const noexcept { return call.root == group_.rank; }
  std::size_t own() const noexcept { return static_cast<std::size_t>(group_.rank); }

  bool can_read_all() const;
  void refuse_processes() const;
  bool do_all(const Call& call, bool own);

  void run_kind(const Call& call);
  void move(const Call& call);
  void all_reduce(const Call& call);
  void reduce(const Call& call);
  Bytes reduce_slice(const Call& call, const std::vector<Bytes>& slices, Bytes into);
  void all_to_all(const Call& call);
  std::size_t largest_of_all(const Call& call);
  std::vector<Take> takes_of_all(const Call& call, int part) const;

  const GroupInfo group_;
  const std::shared_ptr<shm::Area> area_;
  core::RankState& rank_;
  const shm::Bells bells_;
  shm::Exchanges exchanges_;
  const std::shared_ptr<shm::Mail> mail_;
  const ShmOptions options_;
  bool in_place_ = false;  // ranks read each other's bytes in place
  std::once_flag left_;
};

bool ShmBackend::can_read_all() const {
  std::string why_not;
  const shm::PeerMemory memory(area_);
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (!memory.can_read(rank, why_not)) return false;
  }
  return true;
}

void ShmBackend::refuse_processes() const {
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (area_->is_here(rank)) continue;
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "backend threads is for ranks of one process, but " + ranks_text(group_, {rank}) +
                    " is a separate process; use shm (or --isolation threads)");
  }
}

// Returns true if all ranks pass true.
bool ShmBackend::do_all(const Call& call, bool own) {
  std::uint8_t mine = own ? 1 : 0, all = 0;
  const ConstBytes bytes(reinterpret_cast<const std::byte*>(&mine), 1);
  exchanges_.reduce(call, {.parts = {bytes}, .largest = 1}, 0, Bytes(reinterpret_cast<std::byte*>(&all), 1));
  return own && all != 0;  // other ranks may have changed this rank's value
}

void ShmBackend::join(base::TimePoint deadline) {
  Call call = start_until(deadline);
  call.reduce = ReduceOp::Min;
  exchanges_.begin_call();
  do_all(call, true);  // all have shown their process
  if (options_.threads_only) refuse_processes();
  in_place_ = do_all(call, options_.single_copy && area_->is_one_process());
  exchanges_.use_peer_memory(in_place_);
  mail_->use_peer_memory(do_all(call, options_.single_copy && can_read_all()));
}

void ShmBackend::leave(Leaving how, const std::string& why) noexcept {
  std::call_once(left_, [&] {
    // If there is no memory for the error, the failed allocation is the error.
    const auto why_missed = [this] {
      return base::if_memory([this] { return exchanges_.why_missed(); }, [] { return std::current_exception(); });
    };
    std::exception_ptr missed = how == Leaving::Done ? why_missed() : nullptr;
    area_->end(group_.rank, how == Leaving::Done ? shm::Presence::Left : shm::Presence::GaveUp, why);
    bells_.ring_all();
    bells_.ring(group_.rank);
    if (missed == nullptr && how == Leaving::Done) missed = why_missed();
    // A rank that leaves because another one has failed or died may miss calls.
    const bool is_excused = rank_.has_failed_peer() || rank_.noted_death();
    if (missed != nullptr && !is_excused) future::unseen_errors_of(rank_).add_failure(missed);
  });
}

void ShmBackend::run(const Call& call) {
  exchanges_.begin_call();
  try {
    run_kind(call);
  } catch (const std::exception& error) {
    leave(Leaving::GaveUp, error.what());
    exchanges_.wait_for_readers();
    throw;
  }
}

void ShmBackend::run_kind(const Call& call) {
  switch (call.kind) {
    case CallKind::AllReduce: return all_reduce(call);
    case CallKind::Reduce: return reduce(call);
    case CallKind::ReduceScatter:
      return exchanges_.reduce(call, {.parts = call.in, .count = group_.size(), .largest = call.out.front().size()},
                               group_.rank, call.out.front());
    case CallKind::AllToAll: return all_to_all(call);
    default: return move(call);
  }
}

// Returns takes of part `part` of all other ranks, into out[rank].
std::vector<Take> ShmBackend::takes_of_all(const Call& call, int part) const {
  std::vector<Take> takes;
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank != group_.rank) takes.push_back({rank, part, call.out[static_cast<std::size_t>(rank)]});
  }
  return takes;
}

// Runs the calls that do not reduce and have parts of one size.
void ShmBackend::move(const Call& call) {
  Contribution contribution{.parts = call.in, .count = 1, .largest = call.bytes()};
  std::vector<Take> takes;
  switch (call.kind) {
    case CallKind::Barrier:
      for (int rank = 0; rank < group_.size(); ++rank) takes.push_back({rank, 0, {}});
      break;
    case CallKind::Broadcast:
    case CallKind::Send:  // two ranks; sent by the root
      if (!is_root(call)) takes = {{call.root, 0, call.out.front()}};
      break;
    case CallKind::Scatter:
      contribution.count = group_.size();
      if (is_root(call)) {
        copy_own(call.in[own()], call.out.front());
      } else {
        takes = {{call.root, group_.rank, call.out.front()}};
      }
      break;
    default:  // AllGather, Gather
      if (call.out.empty()) break;
      copy_own(call.in.front(), call.out[own()]);
      takes = takes_of_all(call, 0);
  }
  exchanges_.copy(call, contribution, takes);
}

// Returns slices of nearly equal size that do not split elements.
std::vector<Bytes> slices_of(Bytes whole, std::size_t element, int count) {
  const std::size_t elements = whole.size() / element, n = static_cast<std::size_t>(count);
  std::vector<Bytes> slices;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t size = (elements / n + (i < elements % n ? 1 : 0)) * element;
    slices.push_back(whole.subspan(begin, size));
    begin += size;
  }
  return slices;
}

std::vector<ConstBytes> same_slices(ConstBytes whole, const std::vector<Bytes>& like) {
  std::vector<ConstBytes> slices;
  std::size_t begin = 0;
  for (const Bytes each : like) {
    slices.push_back(whole.subspan(begin, each.size()));
    begin += each.size();
  }
  return slices;
}

void ShmBackend::all_reduce(const Call& call) {
  const Bytes out = call.out.front();
  if (out.size() <= kReduceWhole) return exchanges_.reduce(call, {.parts = call.in, .largest = out.size()}, 0, out);
  const std::vector<Bytes> slices = slices_of(out, tensor::size_of(call.dtype), group_.size());
  const std::size_t largest = slices.front().size();
  exchanges_.reduce(
      call, {.parts = same_slices(call.in.front(), slices), .count = group_.size(), .largest = largest, .stay = true},
      group_.rank, slices[own()]);
  Call gather = call;
  gather.out = {slices.begin(), slices.end()};
  exchanges_.copy(call, {.parts = {slices[own()]}, .largest = largest}, takes_of_all(gather, 0));
}

void ShmBackend::reduce(const Call& call) {
  const ConstBytes in = call.in.front();
  if (in.size() <= kReduceWhole) {
    const Contribution contribution{.parts = call.in, .largest = in.size()};
    return is_root(call) ? exchanges_.reduce(call, contribution, 0, call.out.front())
                         : exchanges_.copy(call, contribution, {});
  }
  // Only the root has room for the result: the others reduce their slices in a temporary buffer.
  std::vector<std::byte> beside(is_root(call) ? 0 : in.size());
  const Bytes out = is_root(call) ? call.out.front() : Bytes(beside);
  const std::vector<Bytes> slices = slices_of(out, tensor::size_of(call.dtype), group_.size());
  const std::size_t largest = slices.front().size();
  exchanges_.reduce(call, {.parts = same_slices(in, slices), .count = group_.size(), .largest = largest}, group_.rank,
                    slices[own()]);
  Call gather = call;
  gather.out = {slices.begin(), slices.end()};
  exchanges_.copy(call, {.parts = {slices[own()]}, .largest = largest},
                  is_root(call) ? takes_of_all(gather, 0) : std::vector<Take>());
}

// Returns the largest size of all ranks, each of which knows only its own sizes. Sizes taken count too: a rank that
// takes more than is sent must look for the rest to see that it is missing.
std::size_t ShmBackend::largest_of_all(const Call& call) {
  std::uint64_t own = 0, all = 0;
  for (const ConstBytes& each : call.in) own = std::max<std::uint64_t>(own, each.size());
  if (in_place_) return own;
  for (const Bytes& each : call.out) own = std::max<std::uint64_t>(own, each.size());
  Call sizes = call;
  sizes.dtype = DType::I64;
  sizes.reduce = ReduceOp::Max;
  const ConstBytes bytes(reinterpret_cast<const std::byte*>(&own), sizeof own);
  exchanges_.reduce(sizes, {.parts = {bytes}, .largest = sizeof own}, 0,
                    Bytes(reinterpret_cast<std::byte*>(&all), sizeof all));
  // It determines the number of pieces: with a value that is too small, parts of the results would not be written.
  if (all >= own && all <= kSizeMost) return all;
  throw Error(ErrorKind::Disconnected, "DistBackendError",
              name_of(group_, call.kind, call.number) +
                  ": a rank has corrupted the shared memory: the largest size of " + "all is " + std::to_string(all) +
                  ", and this rank's is " + std::to_string(own) +
                  "; look for writes through bad pointers, and create a new group",
              call.site);
}

void ShmBackend::all_to_all(const Call& call) {
  copy_own(call.in[own()], call.out[own()]);
  const std::size_t largest = largest_of_all(call);
  exchanges_.copy(call, {.parts = call.in, .count = group_.size(), .largest = largest},
                  takes_of_all(call, group_.rank));
}

}  // namespace

std::unique_ptr<HostBackend> make_shm_backend(const GroupInfo& group, Store& store, base::TimePoint deadline,
                                              ShmOptions options) {
  auto backend = std::make_unique<ShmBackend>(group, shm::meet(store, group, deadline), options);
  try {
    backend->join(deadline);
  } catch (const std::exception& error) {
    backend->leave(Leaving::GaveUp, error.what());
    throw;
  }
  return backend;
}

}  // namespace distrun::collectives
