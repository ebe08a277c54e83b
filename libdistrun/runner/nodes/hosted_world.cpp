#include <distrun/runner/nodes/hosted_world.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/free_port.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/attempt/run_orders.hpp>
#include <distrun/runner/launch/cpu_times.hpp>
#include <distrun/runner/proc/run_files.hpp>

namespace distrun::nodes {
namespace {

constexpr auto kLookPeriod = std::chrono::milliseconds(100);
// CPU times are sent in steps, so that a rank that hardly runs sends nothing.
constexpr std::int64_t kCpuStep = 1'000'000;

std::int64_t rounded(base::Nanoseconds time) { return time.count() / kCpuStep * kCpuStep; }

std::vector<base::HeldName> names_in(const wire::Frame& frame) {
  const auto done = wire::decode<wire::Done>(wire::view_of(frame.payload));
  std::vector<base::HeldName> names;
  for (const wire::HeldName& name : done.held) {
    if (names.size() < base::kHeldNamesMax) names.push_back({name.path, name.device, name.inode});
  }
  return names;
}

wire::Frame frame_in(const std::string& bytes) {
  wire::FrameSplitter splitter(wire::kProtocol<wire::ControlFrame>);
  splitter.feed(bytes_of(bytes));
  std::optional<wire::Frame> frame = splitter.next();
  if (!frame || splitter.pending() != 0) throw Error(ErrorKind::InvalidArgument, "no whole control frame");
  return *std::move(frame);
}

}  // namespace

HostedWorld::HostedWorld(NodeShared& shared, SpawnRequest request)
    : shared_(shared),
      request_(std::move(request)),
      dirs_(shared.dirs.take(request_.ranks_here)),
      store_(has_all() ? std::make_unique<runner::AttemptStore>() : nullptr),
      resources_(shared.names, dirs_.get(), nullptr, request_.test),
      due_(shared.loop, [this] { tell_state(); }) {}

HostedWorld::~HostedWorld() {
  if (world_ && !sweep_) world_->end_leftovers();
  if (!suite_dir_.empty() && !dirs_->kept()) proc::remove_tree(suite_dir_);
}

template <class Message>
void HostedWorld::tell(wire::NodeFrame kind, const Message& message) const {
  shared_.send(wire::pack(kind, 0, message));
}

void HostedWorld::begin() {
  Spawned answer{request_.world};
  if (request_.wants_ports) {
    answer.master_port = base::find_free_port();
    answer.rendezvous_port = base::find_free_port();
  }
  tell(wire::NodeFrame::Spawned, answer);
  launch::WorldSpec spec;
  spec.plugin = request_.plugin;
  spec.isolation = request_.isolation;
  spec.world_size = request_.world_size;
  spec.first_rank = request_.first_rank;
  spec.ranks_here = request_.ranks_here;
  world_ = shared_.node.spawn(spec, *this);
}

bool HostedWorld::has(int rank) const noexcept {
  return rank >= request_.first_rank && rank - request_.first_rank < request_.ranks_here;
}

void HostedWorld::send_to_rank(int rank, const std::string& bytes) {
  if (!has(rank)) throw Error(ErrorKind::InvalidArgument, "rank " + std::to_string(rank) + " does not run here");
  const wire::Frame frame = frame_in(bytes);
  const std::string out = frame.is(wire::ControlFrame::Run) ? complete_order(frame) : bytes;
  const auto view = bytes_of(out);
  try {
    world_->send(rank, wire::Bytes(view.begin(), view.end()));
  } catch (const Error& error) {
    on_connection_lost(rank, error.what());
  }
}

std::string HostedWorld::complete_order(const wire::Frame& frame) {
  auto order = wire::decode<wire::RunOrder>(wire::view_of(frame.payload));
  const int local = order.rank - request_.first_rank;
  if (!has(order.rank)) throw Error(ErrorKind::InvalidArgument, "an order for a rank that does not run here");
  runner::OnMachine machine;
  machine.local_rank = local;
  machine.temp_dir = dirs_->shared();
  machine.work_dir = dirs_->of(local);
  machine.tmp_dir = dirs_->tmp_of(local);
  machine.threads = runner::threads_each(request_.ranks_here, shared_.run.jobs);
  runner::add_machine(order, machine, request_.env_rendezvous, request_.own_gpu);
  if (has_all()) {
    order.env.insert(order.env.begin(), {"DISTRUN_STORE", store_->path()});
    order.init_method = "file://" + dirs_->shared() + "/rendezvous";
  } else {
    order.env.insert(order.env.begin(), {{"DISTRUN_HOST_ADDRESS", shared_.address}, {"DISTRUN_HOSTS", request_.hosts}});
  }
  if (!order.suite_dir.empty()) order.suite_dir = suite_dir(order);
  if (order.host != wire::HostWork::None) suite_dir_ = order.suite_dir;
  if (!shared_.run.leaks_off) order.watched = runner::watched_by_ranks(shared_.names, nullptr);
  return text_of(wire::pack(wire::ControlFrame::Run, frame.rank, order));
}

// Each host has a directory of its own for the ranks of a suite: the coordinator's may not exist here.
std::string HostedWorld::suite_dir(const wire::RunOrder& order) const {
  const std::string name = request_.plugin + '\n' + order.suite + '\n' + order.suite_dir;
  const std::string path = dirs_->shared() + "/../suite" + std::to_string(std::hash<std::string>{}(name));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) base::throw_errno("cannot create " + path, errno);
  return path;
}

void HostedWorld::signal(const SignalOrder& order) {
  if (!has(order.rank)) return;
  order.process_only ? world_->signal_process(order.rank, order.signal) : world_->signal(order.rank, order.signal);
}

// ---- what is seen of the ranks

RankView HostedWorld::view_of(int rank) {
  RankView view;
  view.rank = rank;
  view.shown = world_->shown(rank);
  view.cpu_wait_ns = rounded(world_->cpu_wait(rank));
  view.cpu_time_ns = rounded(world_->cpu_time(rank));
  view.process = world_->process_state(rank);
  if (!crash_told_[rank]) view.crash = world_->crash(rank);
  if (view.crash && view.crash->complete) crash_told_[rank] = true;
  return view;
}

WorldState HostedWorld::state_of_all() {
  WorldState state{request_.world, {}};
  for (int i = 0; i < request_.ranks_here; ++i) state.ranks.push_back(view_of(request_.first_rank + i));
  return state;
}

void HostedWorld::tell_state() {
  if (alive_ == 0) return;
  due_.set(shared_.loop.clock().now() + kLookPeriod);
  WorldState changed{request_.world, {}};
  for (RankView& view : state_of_all().ranks) {
    wire::Bytes encoded = wire::encode(view);
    wire::Bytes& before = told_[view.rank];
    if (encoded == before) continue;
    before = std::move(encoded);
    changed.ranks.push_back(std::move(view));
  }
  if (!changed.ranks.empty()) tell(wire::NodeFrame::State, changed);
}

void HostedWorld::collect(const CollectRequest& request) {
  launch::StackOrder order;
  order.samples = std::clamp(request.samples, 1, 100);
  order.bound = base::Nanoseconds(request.bound_ns);
  order.gentle = request.gentle;
  world_->collect_stacks(order, [this, id = request.id, alive = std::weak_ptr(guard_)](evidence::Stacks stacks) {
    if (alive.expired()) return;
    if (stacks.times_are_later) launch::read_cpu_times_again(stacks);
    tell(wire::NodeFrame::Collected, Collected{id, std::move(stacks), state_of_all()});
  });
}

void HostedWorld::name_stacks(NameRequest request) {
  std::vector<std::pair<int, wire::RawStacks>> by_rank;
  for (StacksOfRank& each : request.stacks) by_rank.emplace_back(each.rank, std::move(each.raw));
  // The name is kept by reference until the stacks are there.
  static constexpr const char* kSources[] = {"crash handler", "exception"};
  const char* source = request.source == kSources[0] ? kSources[0] : kSources[1];
  world_->name_stacks(source, std::move(by_rank), base::Nanoseconds(request.bound_ns),
                      [this, id = request.id, alive = std::weak_ptr(guard_)](evidence::Stacks stacks) {
                        if (!alive.expired()) tell(wire::NodeFrame::Collected, Collected{id, std::move(stacks), {}});
                      });
}

// ---- events of the ranks

void HostedWorld::on_rank_started(int rank, int pid) {
  resources_.add_process(pid);
  if (alive_++ == 0) due_.set(shared_.loop.clock().now() + kLookPeriod);
  tell(wire::NodeFrame::RankStarted, RankStarted{request_.world, rank, pid});
}

void HostedWorld::on_frame(int rank, const wire::Frame& frame) {
  try {
    if (frame.is(wire::ControlFrame::Done)) resources_.add_held(names_in(frame));
    // A failure is judged by what the other ranks do at that moment.
    if (frame.is(wire::ControlFrame::Error)) tell_state();
    const wire::Bytes packed =
        wire::pack_frame(frame.kind, static_cast<std::uint16_t>(frame.rank), wire::view_of(frame.payload));
    tell(wire::NodeFrame::FromRank, RankBytes{request_.world, rank, text_of(packed)});
  } catch (const Error& error) {
    on_connection_lost(rank, std::string("it sent an invalid message: ") + error.what());
  }
}

void HostedWorld::on_connection_lost(int rank, const std::string& why) {
  tell(wire::NodeFrame::ConnectionLost, RankText{request_.world, rank, why});
}

void HostedWorld::on_stray_child(int rank) {
  tell_state();
  tell(wire::NodeFrame::StrayChild, RankText{request_.world, rank, ""});
}

void HostedWorld::on_rank_ended(int rank, proc::ExitStatus status, int because_of) {
  --alive_;
  tell(wire::NodeFrame::RankEnded,
       RankEnded{request_.world, view_of(rank), status.code(), status.signal(), because_of});
}

void HostedWorld::on_spawn_failed(const std::string& why) {
  tell(wire::NodeFrame::SpawnFailed, RankText{request_.world, -1, why});
}

void HostedWorld::on_output(int rank, launch::Stream stream, std::string_view bytes) {
  if (shared_.run.live_output) {
    tell(wire::NodeFrame::Output, OutputPiece{request_.world, rank, stream, std::string(bytes)});
  }
}

// ---- the end

void HostedWorld::sweep(bool patient) {
  if (sweep_) throw Error(ErrorKind::InvalidArgument, "a second sweep of a world");
  sweep_ = std::make_unique<runner::Sweep>(shared_.loop, *world_, resources_, shared_.graces, patient,
                                           [this](std::vector<runner::Leak> leaks) { finish(std::move(leaks)); });
  sweep_->start();
}

void HostedWorld::finish(std::vector<runner::Leak> leaks) {
  world_->finish_output();
  for (int i = 0; i < request_.ranks_here; ++i) {
    const int rank = request_.first_rank + i;
    for (const launch::Stream stream : {launch::Stream::Out, launch::Stream::Err}) {
      proc::Captured kept =
          stream == launch::Stream::Out ? world_->standard_output(rank) : world_->standard_error(rank);
      if (kept.bytes_total == 0) continue;
      tell(wire::NodeFrame::Captured,
           CapturedStream{request_.world, rank, stream, std::move(kept.text), kept.bytes_total, kept.bytes_dropped});
    }
  }
  Swept swept{request_.world, {}};
  for (runner::Leak& leak : leaks) {
    swept.left.push_back({static_cast<std::uint8_t>(leak.kind), std::move(leak.what), leak.removed});
  }
  const std::string stuck = dirs_->clear();
  if (!stuck.empty()) swept.left.push_back({static_cast<std::uint8_t>(runner::LeakKind::File), stuck, false});
  tell(wire::NodeFrame::Swept, swept);
}

}  // namespace distrun::nodes
