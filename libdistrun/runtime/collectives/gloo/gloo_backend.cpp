#include <distrun/runtime/collectives/gloo/gloo_backend.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/gloo/gloo_line.hpp>
#include <distrun/runtime/collectives/shm/exchange.hpp>
#include <distrun/runtime/collectives/shm/exchange_failure.hpp>
#include <distrun/runtime/collectives/shm/mail.hpp>
#include <distrun/runtime/collectives/shm/meeting.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/module.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>

namespace distrun::collectives {
namespace {

using gloo_line::Mesh;
using gloo_line::Timeout;
using gloo_line::Turn;

constexpr core::ModuleName kGloo{"gloo", gloo_line::kFile, gloo_line::kEntry};

struct Opened {
  const gloo_line::Module* module = nullptr;
  std::string why_none;
};

Opened open_gloo() {
  const core::Module found = core::open_module(kGloo);
  if (found.entry == nullptr) return {nullptr, found.why_none};
  const auto* const module = static_cast<const gloo_line::Module*>(found.entry);
  if (module->version == gloo_line::kVersion) return {module, ""};
  return {nullptr, found.file + " belongs to another version of distrun"};
}

Timeout left_until(base::TimePoint deadline) {
  constexpr Timeout kLongest = std::chrono::hours(24 * 365);
  const auto left = std::chrono::duration_cast<Timeout>(deadline - base::system_clock().now());
  return std::clamp(left, Timeout(1), kLongest);
}

// Returns the group rank that writes a key of gloo's, which begins with it: "2", its addresses; "rank_2", its host; or
// "2/0", an address in old versions. -1 for another key.
int writer_of(const std::string& key, int ranks) {
  constexpr std::string_view kHost = "rank_";
  const char* const begin = key.data() + (key.starts_with(kHost) ? kHost.size() : 0);
  const char* const end = key.data() + key.size();
  int rank = -1;
  const auto [rest, failure] = std::from_chars(begin, end, rank);
  const bool is_key = failure == std::errc() && (rest == end || *rest == '/');
  return is_key && rank >= 0 && rank < ranks ? rank : -1;
}

// The group's store, for gloo's addresses.
class StoreMeeting final : public gloo_line::Meeting {
 public:
  // Waits for an absent rank until the deadline, or the store's own timeout.
  StoreMeeting(Store& store, const GroupInfo& group, base::TimePoint deadline)
      : store_(store), group_(group), deadline_(deadline) {}
  void set(const std::string& key, const std::vector<char>& value) override {
    store_.set("gloo/" + key, std::string(value.begin(), value.end()));
  }
  std::vector<char> get(const std::string& key) override {
    wait({key});
    const std::string value = store_.get("gloo/" + key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      const std::vector<int> writer = world_ranks_of(writer_of(key, group_.size()));
      const stores::AwaitedRanks awaited(writer,
                                         core::are_all_ranks(group_.ranks.size()) ? writer : std::vector<int>());
      const base::Nanoseconds left = std::max(deadline_ - base::system_clock().now(), base::Nanoseconds::zero());
      store_.wait({"gloo/" + key}, std::min(left, store_.timeout()));
    }
  }

 private:
  std::vector<int> world_ranks_of(int place) const {
    if (place < 0) return {};
    return {group_.ranks[static_cast<std::size_t>(place)]};
  }

  Store& store_;
  const GroupInfo& group_;
  const base::TimePoint deadline_;
};

// A contiguous buffer for pieces of one size: their own memory, or a temporary buffer.
class InOne {
 public:
  explicit InOne(const std::vector<Bytes>& pieces) : pieces_(pieces) {
    const std::size_t size = pieces.front().size();
    bool are_one = true;
    for (std::size_t i = 1; i < pieces.size(); ++i) are_one &= pieces[i].data() == pieces[i - 1].data() + size;
    if (!are_one) beside_.resize(size * pieces.size());
  }
  std::byte* data() noexcept { return beside_.empty() ? pieces_.front().data() : beside_.data(); }
  // Copies what was written to the pieces.
  void part() const {
    const std::byte* from = beside_.data();
    for (const Bytes& each : pieces_) {
      if (beside_.empty()) return;
      std::memcpy(each.data(), from, each.size());
      from += each.size();
    }
  }

 private:
  const std::vector<Bytes>& pieces_;
  std::vector<std::byte> beside_;
};

class GlooBackend final : public HostBackend {
 public:
  GlooBackend(const GroupInfo& group, std::shared_ptr<shm::Area> area)
      : group_(group),
        area_(std::move(area)),
        bells_(area_, group),
        exchanges_(area_, group, bells_),
        mail_(std::make_shared<shm::Mail>(area_, group, bells_)) {
    area_->take_seat(group_.rank);
  }
  ~GlooBackend() override { leave(Leaving::Done, ""); }

  // Call once, before anything else.
  void join(const gloo_line::Module& module, Store& store, base::TimePoint deadline);

  void run(const Call& call) override;
  std::unique_ptr<Transfer> begin_send(const PointToPoint& message, ConstBytes bytes) override {
    return mail_->send(message, bytes);
  }
  std::unique_ptr<Transfer> begin_receive(const PointToPoint& message, Bytes bytes) override {
    return mail_->receive(message, bytes);
  }
  void leave(Leaving how, const std::string& why) noexcept override;

 private:
  std::size_t own() const noexcept { return static_cast<std::size_t>(group_.rank); }
  bool is_root(const Call& call) const noexcept { return call.root == group_.rank; }
  board::WaitInfo shown(const Call& call) const;

  void agree_on_sizes(const Call& call);
  void run_gathered(const Call& call);
  void move(const Call& call, const Turn& turn);
  void all_reduce(const Call& call, const Turn& turn);
  void reduce(const Call& call, const Turn& turn);
  void reduce_scatter(const Call& call, const Turn& turn);
  void all_gather(const Call& call, const Turn& turn);
  void gather(const Call& call, const Turn& turn);
  void scatter(const Call& call, const Turn& turn);
  void all_to_all(const Call& call, const Turn& turn);

  const GroupInfo group_;
  const std::shared_ptr<shm::Area> area_;
  const shm::Bells bells_;
  shm::Exchanges exchanges_;
  const std::shared_ptr<shm::Mail> mail_;
  std::unique_ptr<Mesh> mesh_;  // from join() on
  std::uint32_t tag_ = 0;       // of the last call
  std::once_flag left_;
};

void GlooBackend::join(const gloo_line::Module& module, Store& store, base::TimePoint deadline) {
  const Call call = start_until(deadline);
  exchanges_.begin_call();
  exchanges_.gather(call);
  const base::TimePoint begin = base::system_clock().now();
  try {
    StoreMeeting meeting(store, group_, deadline);
    mesh_ = module.connect(group_.rank, group_.size(), core::hosts().address().c_str(), left_until(deadline), meeting);
  } catch (const std::exception& error) {
    exchanges_.explain(call, "gloo cannot connect the ranks: " + std::string(error.what()));
  }
  exchanges_.done();
  // Wait until all are connected: a connected rank may leave the group at once, which would cut off the others.
  exchanges_.gather(call);
  exchanges_.done();
}

void GlooBackend::leave(Leaving how, const std::string& why) noexcept {
  constexpr base::Nanoseconds kLongest = std::chrono::seconds(2);
  std::call_once(left_, [&] {
    if (how == Leaving::Done) exchanges_.wait_for_all_done(base::system_clock().now() + kLongest);
    area_->end(group_.rank, how == Leaving::Done ? shm::Presence::Left : shm::Presence::GaveUp, why);
    bells_.ring_all();
    bells_.ring(group_.rank);
    if (mesh_ != nullptr) mesh_->close();
  });
}

void GlooBackend::run(const Call& call) {
  exchanges_.begin_call();
  try {
    if (call.kind == CallKind::AllToAll) agree_on_sizes(call);
    exchanges_.gather(call);
    // Calls without bytes only wait for all ranks.
    if (call.kind == CallKind::Barrier || call.kind == CallKind::AllToAll || call.bytes() != 0) run_gathered(call);
    exchanges_.done();
  } catch (const std::exception& error) {
    leave(Leaving::GaveUp, error.what());
    throw;
  }
}

// Compares the sizes, which each rank knows only for itself: gloo ends a process that gets more than it has room for.
void GlooBackend::agree_on_sizes(const Call& call) {
  std::vector<std::uint64_t> sizes, theirs(call.out.size());
  for (const ConstBytes& each : call.in) sizes.push_back(each.size());
  shm::Contribution contribution{.parts = {}, .count = group_.size(), .largest = sizeof sizes.front()};
  std::vector<shm::Take> takes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    contribution.parts.push_back(std::as_bytes(std::span(&sizes[i], 1)));
    takes.push_back({static_cast<int>(i), group_.rank, std::as_writable_bytes(std::span(&theirs[i], 1))});
  }
  exchanges_.copy(call, contribution, takes);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    if (theirs[i] != call.out[i].size()) {
      shm::throw_wrong_size(group_, call, static_cast<int>(i), theirs[i], call.out[i].size());
    }
  }
}

board::WaitInfo GlooBackend::shown(const Call& call) const {
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.rule = board::PeerRule::All;
  info.id = call.number;
  info.site = call.site;
  for (int place = 0; place < group_.size(); ++place) {
    if (place != group_.rank) info.peers.add(group_.ranks[static_cast<std::size_t>(place)]);
  }
  return info;
}

// All ranks have arrived, but one may be stopped, or die, while bytes move.
void GlooBackend::run_gathered(const Call& call) {
  const base::TimePoint begin = base::system_clock().now();
  try {
    const std::string name = std::string(name_of(call.kind)) + " of " + group_.name + ", in gloo";
    board::WaitInfo info = shown(call);
    info.name = name;
    const core::Wait wait(info, call.deadline);
    const core::PeerFailedCall wake(core::rank_state(), [this](const core::PeerFailure&) { mesh_->close(); });
    move(call, {++tag_, left_until(call.deadline)});
  } catch (const std::exception& error) {
    exchanges_.explain(call, error.what());
  }
}

void GlooBackend::move(const Call& call, const Turn& turn) {
  switch (call.kind) {
    case CallKind::Barrier: return mesh_->barrier(turn);
    case CallKind::Broadcast: {
      std::byte* const bytes = is_root(call) ? const_cast<std::byte*>(call.in.front().data()) : call.out.front().data();
      return mesh_->broadcast(turn, call.root, bytes, call.bytes());
    }
    case CallKind::AllReduce: return all_reduce(call, turn);
    case CallKind::Reduce: return reduce(call, turn);
    case CallKind::ReduceScatter: return reduce_scatter(call, turn);
    case CallKind::AllGather: return all_gather(call, turn);
    case CallKind::Gather: return gather(call, turn);
    case CallKind::Scatter: return scatter(call, turn);
    default: return all_to_all(call, turn);
  }
}

gloo_line::Reducing reducing_of(const Call& call) {
  const auto as_bytes = [](auto* any) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(any)>>, const std::byte, std::byte>;
    return static_cast<Byte*>(any);
  };
  return {tensor::size_of(call.dtype),
          [as_bytes, op = call.reduce, dtype = call.dtype](void* of, const void* a, const void* b, std::size_t count) {
            combine(op, dtype, as_bytes(of), as_bytes(a), as_bytes(b), count);
          }};
}

void finish_all(const Call& call, Bytes bytes, int ranks) {
  finish(call.reduce, call.dtype, bytes.data(), bytes.size() / tensor::size_of(call.dtype), ranks);
}

void GlooBackend::all_reduce(const Call& call, const Turn& turn) {
  const Bytes out = call.out.front();
  mesh_->all_reduce(turn, reducing_of(call), call.in.front().data(), out.data(), out.size());
  finish_all(call, out, group_.size());
}

void GlooBackend::reduce(const Call& call, const Turn& turn) {
  const ConstBytes in = call.in.front();
  std::vector<std::byte> beside(is_root(call) ? 0 : in.size());
  const Bytes out = is_root(call) ? call.out.front() : Bytes(beside);
  mesh_->reduce(turn, call.root, reducing_of(call), in.data(), out.data(), out.size());
  if (is_root(call)) finish_all(call, out, group_.size());
}

void GlooBackend::reduce_scatter(const Call& call, const Turn& turn) {
  std::vector<std::byte> all;
  for (const ConstBytes& each : call.in) all.insert(all.end(), each.begin(), each.end());
  mesh_->all_reduce(turn, reducing_of(call), all.data(), all.data(), all.size());
  const Bytes out = call.out.front();
  std::memcpy(out.data(), all.data() + own() * out.size(), out.size());
  finish_all(call, out, group_.size());
}

void GlooBackend::all_gather(const Call& call, const Turn& turn) {
  InOne all(call.out);
  mesh_->all_gather(turn, call.in.front().data(), all.data(), call.in.front().size());
  all.part();
}

void GlooBackend::gather(const Call& call, const Turn& turn) {
  const ConstBytes in = call.in.front();
  if (!is_root(call)) return mesh_->gather(turn, call.root, in.data(), nullptr, in.size());
  InOne all(call.out);
  mesh_->gather(turn, call.root, in.data(), all.data(), in.size());
  all.part();
}

void GlooBackend::scatter(const Call& call, const Turn& turn) {
  std::vector<const std::byte*> parts;
  for (const ConstBytes& each : call.in) parts.push_back(each.data());
  mesh_->scatter(turn, call.root, parts, call.out.front().data(), call.out.front().size());
}

void GlooBackend::all_to_all(const Call& call, const Turn& turn) {
  std::vector<Mesh::Piece> in, out;
  for (const ConstBytes& each : call.in) in.push_back({const_cast<std::byte*>(each.data()), each.size()});  // only read
  for (const Bytes& each : call.out) out.push_back({each.data(), each.size()});
  if (in[own()].size != 0) std::memmove(out[own()].bytes, in[own()].bytes, in[own()].size);
  mesh_->all_to_all(turn, in, out);
}

}  // namespace

bool has_gloo() { return core::has_module(kGloo); }

std::string why_no_gloo() { return open_gloo().why_none; }

std::unique_ptr<HostBackend> make_gloo_backend(const GroupInfo& group, Store& store, base::TimePoint deadline) {
  const Opened gloo = open_gloo();
  if (gloo.module == nullptr) throw Error(ErrorKind::Unimplemented, gloo.why_none);
  auto backend = std::make_unique<GlooBackend>(group, shm::meet(store, group, deadline));
  try {
    backend->join(*gloo.module, store, deadline);
  } catch (const std::exception& error) {
    backend->leave(Leaving::GaveUp, error.what());
    throw;
  }
  return backend;
}

}  // namespace distrun::collectives
