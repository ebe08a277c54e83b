#include <distrun/runner/nodes/node_service.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/io/spawn.hpp>
#include <distrun/runner/nodes/hosted_program.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kNamesMax = 1000;  // told at the end

Isolation checked_isolation(Isolation isolation) {
  if (isolation == Isolation::Process || isolation == Isolation::Exec || isolation == Isolation::Pool) return isolation;
  throw Error(ErrorKind::InvalidArgument, "a node runs ranks as processes only");
}

TracePart without_trace(const TraceRequest& request) {
  TracePart part;
  part.world = request.world;
  part.fetch = request.fetch;
  part.rank = request.rank;
  part.first = request.first;
  part.why_missing = "the ranks are gone";
  return part;
}

}  // namespace

NodeService::NodeService(io::Loop& loop, Settings settings, std::function<void(wire::Bytes)> send,
                         std::function<void()> on_closed)
    : loop_(loop),
      settings_(std::move(settings)),
      send_(std::move(send)),
      on_closed_(std::move(on_closed)),
      node_(loop, settings_.node) {}

NodeService::~NodeService() { close(); }

template <class Message>
void NodeService::tell(wire::NodeFrame kind, const Message& message) const {
  send_(wire::pack(kind, 0, message));
}

// Returns the world if its ranks have begun.
HostedWorld* NodeService::find(std::uint32_t world) {
  const auto found = worlds_.find(world);
  return found == worlds_.end() || !found->second->has_begun() ? nullptr : found->second.get();
}

void NodeService::on_frame(const wire::Frame& frame) {
  using Kind = wire::NodeFrame;
  const auto kind = frame.kind_as<Kind>();
  if (kind == Kind::Welcome) return welcome(payload<Welcome>(frame));
  if (!shared_) throw Error(ErrorKind::InvalidArgument, "a frame before the welcome");
  if (closed_) return;
  switch (kind) {
    case Kind::List: return start(list(payload<ListRequest>(frame)));
    case Kind::Prepare: return start(prepare(payload<PrepareRequest>(frame)));
    case Kind::TryPrivateTmp: return start(try_private_tmp(payload<TrialRequest>(frame)));
    case Kind::BeginLoad: return begin_load(payload<LoadRequest>(frame));
    case Kind::EndLoad: return load_.reset();
    case Kind::Cancel: return node_.cancel();
    case Kind::Release: return node_.release(payload<ReleaseOrder>(frame).plugin);
    case Kind::Spawn: return spawn(payload<SpawnRequest>(frame));
    case Kind::Begin: return begin(payload<BeginOrder>(frame));
    case Kind::Close: tell(Kind::Closed, close()); return on_closed_();
    default: return on_frame_of_world(frame);
  }
}

// An order for a world that has failed to start, or was ended, is not wrong: they cross on their way.
void NodeService::on_frame_of_world(const wire::Frame& frame) {
  using Kind = wire::NodeFrame;
  switch (frame.kind_as<Kind>()) {
    case Kind::EndWorld: return end(payload<WorldOrder>(frame).world);
    case Kind::ToRank: {
      const auto order = payload<RankBytes>(frame);
      if (HostedWorld* world = find(order.world)) world->send_to_rank(order.rank, order.bytes);
      return;
    }
    case Kind::Signal: {
      const auto order = payload<SignalOrder>(frame);
      if (HostedWorld* world = find(order.world)) world->signal(order);
      return;
    }
    case Kind::Collect: {
      const auto request = payload<CollectRequest>(frame);
      if (HostedWorld* world = find(request.world)) return world->collect(request);
      return tell(Kind::Collected, Collected{request.id, {}, {}});
    }
    case Kind::NameStacks: {
      auto request = payload<NameRequest>(frame);
      if (HostedWorld* world = find(request.world)) return world->name_stacks(std::move(request));
      return tell(Kind::Collected, Collected{request.id, {}, {}});
    }
    case Kind::ConfirmOutput: {
      const auto confirmed = payload<ConfirmedBytes>(frame);
      if (HostedWorld* world = find(confirmed.world)) world->confirm_output(confirmed.bytes);
      return;
    }
    case Kind::Input: {
      const auto piece = payload<InputPiece>(frame);
      if (HostedWorld* world = find(piece.world)) world->add_input(piece.bytes);
      return;
    }
    case Kind::ForgetOutput: {
      if (HostedWorld* world = find(payload<WorldOrder>(frame).world)) world->forget_output();
      return;
    }
    case Kind::Inspect: {
      const auto order = payload<WorldOrder>(frame);
      if (HostedWorld* world = find(order.world)) return world->inspect();
      return tell(Kind::Inspected, Inspected{order.world});
    }
    case Kind::ReadTrace: return read_trace(payload<TraceRequest>(frame));
    case Kind::Keep: {
      const auto order = payload<WorldOrder>(frame);
      if (HostedWorld* world = find(order.world)) world->keep(order.yes);
      return;
    }
    case Kind::Renew: return renew(payload<RenewRequest>(frame));
    case Kind::Sweep: {
      const auto order = payload<WorldOrder>(frame);
      if (HostedWorld* world = find(order.world)) return world->sweep(order.yes);
      end(order.world);  // a program that has not begun will not
      return tell(Kind::Swept, Swept{order.world, {}});
    }
    default: throw Error(ErrorKind::InvalidArgument, "a coordinator must not send this kind of frame");
  }
}

void NodeService::welcome(const Welcome& run) {
  if (shared_) throw Error(ErrorKind::InvalidArgument, "a second welcome");
  check(run);
  if (run.run_id != settings_.places.run_id) throw Error(ErrorKind::InvalidArgument, "a welcome to another run");
  names_.emplace(settings_.places, run.any_files);
  names_->forget();
  dirs_.emplace(settings_.places.run_dir(), run.keep_work_dir);
  runner::Graces graces;
  if (run.leak_ns > 0) graces.leak = base::Nanoseconds(run.leak_ns);
  if (run.kill_ns > 0) graces.kill = base::Nanoseconds(run.kill_ns);
  if (run.exit_ns > 0) graces.exit = base::Nanoseconds(run.exit_ns);
  shared_.emplace(NodeShared{loop_, node_, *names_, *dirs_, graces, run, runner::bind_lanes(run.bind, run.jobs),
                             settings_.address, settings_.cpus, settings_.host_variables, send_});
  if (run.private_tmp) tmps_.emplace(node_, settings_.places, run.plugins, run.keep_work_dir);
}

void NodeService::start(io::Task<void> task) {
  io::spawn(loop_, std::move(task), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
}

io::Task<void> NodeService::list(ListRequest request) {
  const std::weak_ptr<const void> alive = guard_;
  Listed answer;
  answer.id = request.id;
  try {
    const wire::PluginTable table =
        co_await node_.list(request.plugin, request.order, base::Nanoseconds(request.bound_ns));
    answer.table = text_of(wire::encode(table));
  } catch (const Error& error) {
    answer.error = error.what();
  }
  if (!alive.expired()) tell(wire::NodeFrame::Listed, answer);
}

io::Task<void> NodeService::prepare(PrepareRequest request) {
  const std::weak_ptr<const void> alive = guard_;
  PreparedAnswer answer;
  answer.id = request.id;
  try {
    const launch::Prepared prepared = co_await node_.prepare(request.plugin, checked_isolation(request.isolation),
                                                             base::Nanoseconds(request.bound_ns));
    answer.isolation = prepared.isolation;
    answer.reason = prepared.reason;
  } catch (const Error& error) {
    answer.error = error.what();
  }
  if (!alive.expired()) tell(wire::NodeFrame::Prepared, answer);
}

io::Task<void> NodeService::try_private_tmp(TrialRequest request) {
  const std::weak_ptr<const void> alive = guard_;
  PreparedAnswer answer;
  answer.id = request.id;
  try {
    if (!tmps_) throw Error(ErrorKind::InvalidArgument, "the run has no private directories");
    co_await tmps_->require();
  } catch (const Error& error) {
    answer.error = error.what();
  }
  if (!alive.expired()) tell(wire::NodeFrame::Prepared, answer);
}

void NodeService::begin_load(const LoadRequest& request) {
  PreparedAnswer answer;
  answer.id = request.id;
  load_.reset();  // before the next one: they would pause ranks independently
  try {
    load_.emplace(loop_, request.plan, settings_.cpus, [this] { return pausable_ranks(); });
  } catch (const Error& error) {
    answer.error = error.what();
  }
  tell(wire::NodeFrame::Prepared, answer);
}

std::vector<pid_t> NodeService::pausable_ranks() const {
  std::vector<pid_t> pids;
  for (const auto& [number, world] : worlds_) {
    const std::vector<pid_t> of_world = world->pausable_ranks();
    pids.insert(pids.end(), of_world.begin(), of_world.end());
  }
  return pids;
}

void NodeService::spawn(SpawnRequest request) {
  check(request);
  if (request.lane >= shared_->run.jobs) throw Error(ErrorKind::InvalidArgument, "a lane that the run does not have");
  const std::uint32_t number = request.world;
  if (worlds_.contains(number) || starting_.contains(number)) {
    throw Error(ErrorKind::InvalidArgument, "a world that exists");
  }
  if (!tmps_ || request.lane < 0) return host(std::move(request), nullptr);
  if (auto tmp = tmps_->find(request.lane)) return host(std::move(request), std::move(tmp));
  starting_.insert(number);
  start(spawn_with_tmp(std::move(request)));
}

// The world may be ended meanwhile.
io::Task<void> NodeService::spawn_with_tmp(SpawnRequest request) {
  const std::weak_ptr<const void> alive = guard_;
  const std::uint32_t number = request.world;
  std::shared_ptr<const runner::PrivateTmp> tmp;
  std::string failure;
  try {
    std::string program;
    if (request.program) program = find_program(*request.program, settings_.host_variables).path;
    tmp = co_await tmps_->make(std::move(program));
  } catch (const Error& error) {
    failure = error.what();
  }
  if (alive.expired() || closed_ || starting_.erase(number) == 0) co_return;
  if (!failure.empty()) co_return tell(wire::NodeFrame::SpawnFailed, RankText{number, -1, failure});
  tmps_->use(request.lane, tmp);
  host(std::move(request), std::move(tmp));
}

void NodeService::host(SpawnRequest request, std::shared_ptr<const runner::PrivateTmp> tmp) {
  const std::uint32_t number = request.world;
  try {
    auto world = std::make_unique<HostedWorld>(*shared_, std::move(request), std::move(tmp));
    world->prepare();
    worlds_.emplace(number, std::move(world));
  } catch (const Error& error) {
    tell(wire::NodeFrame::SpawnFailed, RankText{number, -1, error.what()});
  }
}

void NodeService::read_trace(const TraceRequest& request) {
  if (HostedWorld* world = find(request.world)) return world->read_trace(request);
  tell(wire::NodeFrame::TracePart, without_trace(request));
}

void NodeService::end(std::uint32_t world) {
  worlds_.erase(world);
  starting_.erase(world);
}

void NodeService::renew(RenewRequest request) {
  check(request.test);
  HostedWorld* const world = find(request.world);
  if (world == nullptr) return;
  try {
    world->renew(std::move(request.test));
  } catch (const Error& error) {
    tell(wire::NodeFrame::SpawnFailed, RankText{request.world, -1, error.what()});
  }
}

bool NodeService::tell_ending(int signal) const {
  if (closed_ || !shared_ || !shared_->run.in_job) return false;
  tell(wire::NodeFrame::Ending, Ending{signal});
  return true;
}

void NodeService::begin(const BeginOrder& order) {
  const auto found = worlds_.find(order.world);
  if (found != worlds_.end()) found->second->begin(order);
}

Closed NodeService::close() {
  Closed found;
  if (std::exchange(closed_, true)) return found;
  load_.reset();
  worlds_.clear();
  starting_.clear();
  tmps_.reset();
  node_.close();
  if (names_ && !shared_->run.leaks_off) {
    for (const runner::NameWatch::Suspicion& each : names_->suspicions()) found.suspicions.push_back(each.path);
    found.strangers = names_->strangers();
    if (found.strangers.size() > kNamesMax) found.strangers.resize(kNamesMax);
  }
  const bool keep = shared_ && shared_->run.keep_work_dir;
  found.stuck = proc::remove_run_files(settings_.places, keep).stuck;
  return found;
}

}  // namespace distrun::nodes
