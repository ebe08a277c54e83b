#include <distrun/runner/nodes/hosted_world.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/free_port.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/attempt/script_note.hpp>
#include <distrun/runner/launch/cpu_times.hpp>
#include <distrun/runner/launch/rank_pauser.hpp>
#include <distrun/runner/nodes/hosted_program.hpp>
#include <distrun/runner/proc/run_files.hpp>

namespace distrun::nodes {
namespace {

constexpr base::Nanoseconds kSettleMax = std::chrono::seconds(10);

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

// If rank 0 does not run here, nor does a server of other ranks.
Ports find_ports(const SpawnRequest& request) {
  if (request.first_rank != 0) return {};
  return {base::find_free_port(), base::find_free_port()};
}

bool runs_here(const SpawnRequest& request, int rank) noexcept {
  return rank >= request.first_rank && rank - request.first_rank < request.ranks_here;
}

// A child that has returned from the test's body is seen on the board sooner than as a process.
bool has_stray_child(const launch::World& world, const SpawnRequest& request) {
  for (int i = 0; i < request.ranks_here; ++i) {
    const auto shown = world.shown(request.first_rank + i);
    if (shown && shown->stray_child != 0) return true;
  }
  return false;
}

std::int64_t now_ns(const io::Loop& loop) { return loop.clock().now().time_since_epoch().count(); }

}  // namespace

HostedWorld::HostedWorld(NodeShared& shared, SpawnRequest request, std::shared_ptr<const runner::PrivateTmp> tmp)
    : shared_(shared),
      request_(std::move(request)),
      tmp_(std::move(tmp)),
      test_(std::make_unique<HostedTest>(shared, request_, request_.test, tmp_.get())),
      output_(request_.world, {[this](const OutputPiece& piece) { tell(wire::NodeFrame::Output, piece); },
                               [this](bool hold) { world_->hold_output(hold); }}),
      test_began_(shared.loop.clock().now()) {}

HostedWorld::~HostedWorld() {
  if (world_ && !sweep_) world_->end_leftovers();
  if (!suite_dir_.empty() && !(test_ && test_->are_dirs_kept())) proc::remove_tree(suite_dir_);
}

template <class Message>
void HostedWorld::tell(wire::NodeFrame kind, const Message& message) const {
  shared_.send(wire::pack(kind, 0, message));
}

void HostedWorld::prepare() {
  if (request_.program) program_ = find_program(*request_.program, shared_.host_variables);
  tell(wire::NodeFrame::Spawned, Spawned{request_.world, find_ports(request_)});
  if (!request_.program) start();
}

void HostedWorld::begin(const BeginOrder& order) {
  if (world_ || !request_.program) throw Error(ErrorKind::InvalidArgument, "an order to begin what has begun");
  runner::ProgramPlace place = place_of(request_, order);
  place.run_id = shared_.run.run_id;
  place.temp_dir = test_->shared_dir();
  place.cpus = shared_.cpus;
  place.host_address = shared_.address;
  set_place(program_, place);
  runner::bind(program_, shared_.cpus_of(request_.lane));
  if (tmp_) runner::use_private_tmp(program_);
  if (runs_here(request_, request_.program->stdin_rank)) {
    input_ = std::make_unique<InputPipe>(shared_.loop, [this](std::uint64_t bytes) {
      tell(wire::NodeFrame::ConfirmInput, ConfirmedBytes{request_.world, bytes});
    });
    program_.stdin_rank = request_.program->stdin_rank;
    program_.stdin_fd = input_->rank_end();
  }
  start();
  if (input_) input_->close_rank_end();
}

void HostedWorld::start() {
  launch::WorldSpec spec;
  spec.plugin = request_.plugin;
  spec.isolation = request_.isolation;
  spec.world_size = request_.world_size;
  spec.first_rank = request_.first_rank;
  spec.ranks_here = request_.ranks_here;
  spec.program = program_;
  if (tmp_) spec.space = tmp_->space;
  world_ = shared_.node.spawn(spec, *this);
  news_ = std::make_unique<RankNews>(shared_.loop, *world_, request_.first_rank, request_.ranks_here,
                                     [this](std::vector<RankView> changed) {
                                       tell(wire::NodeFrame::State, WorldState{request_.world, std::move(changed)});
                                     });
}

void HostedWorld::add_input(std::string_view bytes) {
  if (!input_) throw Error(ErrorKind::InvalidArgument, "input for a rank that does not read it");
  input_->add(bytes);
}

void HostedWorld::send_to_rank(int rank, const std::string& bytes) {
  if (!runs_here(request_, rank))
    throw Error(ErrorKind::InvalidArgument, "rank " + std::to_string(rank) + " does not run here");
  const wire::Frame frame = frame_in(bytes);
  const bool is_order = frame.is(wire::ControlFrame::Run);
  if (is_order && !test_) return;  // its coordinator knows that the test cannot run here
  const std::string out = is_order ? complete_order(frame) : bytes;
  const auto view = bytes_of(out);
  try {
    world_->send(rank, wire::Bytes(view.begin(), view.end()));
  } catch (const Error& error) {
    on_connection_lost(rank, error.what());
  }
}

std::string HostedWorld::complete_order(const wire::Frame& frame) {
  auto order = wire::decode<wire::RunOrder>(wire::view_of(frame.payload));
  if (!runs_here(request_, order.rank))
    throw Error(ErrorKind::InvalidArgument, "an order for a rank that does not run here");
  test_->complete(order);
  if (order.host != wire::HostWork::None) suite_dir_ = order.suite_dir;
  return text_of(wire::pack(wire::ControlFrame::Run, frame.rank, order));
}

void HostedWorld::signal(const SignalOrder& order) {
  if (!runs_here(request_, order.rank)) return;
  order.process_only ? world_->signal_process(order.rank, order.signal) : world_->signal(order.rank, order.signal);
}

void HostedWorld::collect(const CollectRequest& request) {
  launch::StackOrder order;
  order.samples = std::clamp(request.samples, 1, 100);
  order.bound = base::Nanoseconds(request.bound_ns);
  order.gentle = request.gentle;
  order.settle = base::Nanoseconds(std::clamp<std::int64_t>(request.settle_ns, 0, kSettleMax.count()));
  world_->collect_stacks(order, [this, id = request.id, alive = std::weak_ptr(guard_)](evidence::Stacks stacks) {
    if (alive.expired()) return;
    if (request_.program) runner::find_scripts(stacks);
    // Just before the views, so that a thread that uses no CPU from now on has been in the wait that they show.
    if (stacks.times_are_later) launch::read_cpu_times_again(stacks);
    tell(wire::NodeFrame::Collected, Collected{id, std::move(stacks), WorldState{request_.world, news_->views()}});
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

void HostedWorld::read_trace(const TraceRequest& request) {
  const std::int64_t received_ns = now_ns(shared_.loop);
  TracePart part = test_ ? test_->read_trace(request) : TracePart();
  part.world = request.world;
  part.fetch = request.fetch;
  part.rank = request.rank;
  part.first = request.first;
  part.received_ns = received_ns;
  part.sent_ns = now_ns(shared_.loop);
  tell(wire::NodeFrame::TracePart, part);
}

// ---- events of the ranks

void HostedWorld::on_rank_started(int rank, int pid) {
  if (resources() != nullptr) resources()->add_process(pid);
  if (pids_.empty()) news_->begin();
  pids_.emplace(rank, pid);
  tell(wire::NodeFrame::RankStarted, RankStarted{request_.world, rank, pid});
}

void HostedWorld::on_frame(int rank, const wire::Frame& frame) {
  const std::int64_t received_ns = now_ns(shared_.loop);
  try {
    if (frame.is(wire::ControlFrame::Done) && resources() != nullptr) resources()->add_held(names_in(frame));
    // A failure is judged by what the other ranks do at that moment.
    if (frame.is(wire::ControlFrame::Error)) news_->tell_now();
    const wire::Bytes packed =
        wire::pack_frame(frame.kind, static_cast<std::uint16_t>(frame.rank), wire::view_of(frame.payload));
    tell(wire::NodeFrame::FromRank, RankBytes{request_.world, rank, text_of(packed), received_ns});
  } catch (const Error& error) {
    on_connection_lost(rank, std::string("it sent an invalid message: ") + error.what());
  }
}

void HostedWorld::on_connection_lost(int rank, const std::string& why) {
  tell(wire::NodeFrame::ConnectionLost, RankText{request_.world, rank, why});
}

void HostedWorld::on_stray_child(int rank) {
  news_->tell_now();
  tell(wire::NodeFrame::StrayChild, RankText{request_.world, rank, ""});
}

void HostedWorld::on_rank_ended(int rank, proc::ExitStatus status, int because_of) {
  pids_.erase(rank);
  if (pids_.empty()) news_->end();
  tell(wire::NodeFrame::RankEnded, RankEnded{request_.world, news_->view_of(rank), status.code(), status.signal(),
                                             because_of, now_ns(shared_.loop)});
}

void HostedWorld::on_spawn_failed(const std::string& why) {
  tell(wire::NodeFrame::SpawnFailed, RankText{request_.world, -1, why});
}

void HostedWorld::on_program(int rank) { tell(wire::NodeFrame::ProgramBegan, RankStarted{request_.world, rank, 0}); }

void HostedWorld::on_output(int rank, launch::Stream stream, std::string_view bytes) {
  if (request_.program || shared_.run.live_output) output_.add(rank, stream, bytes);
}

// ---- from test to test

void HostedWorld::inspect() {
  const bool are_all_here = static_cast<int>(pids_.size()) == request_.ranks_here;
  Inspected answer{request_.world};
  answer.is_clean = are_all_here && resources() != nullptr && !world_->has_offspring() && !resources()->any() &&
                    !has_stray_child(*world_, request_);
  try {
    answer.ports = find_ports(request_);
  } catch (const Error&) {
    answer.is_clean = false;  // the start of new ranks says why
  }
  tell_output();
  tell(wire::NodeFrame::Inspected, answer);
}

// The host of a suite goes on in the same directories until its tear-down is over. What it has created is for the
// suite's tests, and left behind only if it is still there after that.
void HostedWorld::keep(bool holds) {
  if (!test_) return;
  if (suite_dir_.empty()) {
    if (holds) held_ = test_->in_use();
    return test_.reset();
  }
  if (resources() == nullptr) return;
  made_ = resources()->names();
  for (const proc::NewName& name : made_) shared_.names.give(name);
  test_->end_search();
}

void HostedWorld::renew(TestOfWorld test) {
  if (!suite_dir_.empty() && test_) {
    test_->begin_search(test.id);
  } else {
    test_.reset();
    test_ = std::make_unique<HostedTest>(shared_, request_, std::move(test), tmp_.get());
  }
  for (const auto& [rank, pid] : pids_) resources()->add_process(pid);
  test_began_ = shared_.loop.clock().now();
}

std::vector<pid_t> HostedWorld::pausable_ranks() const {
  std::vector<pid_t> pids;
  if (!test_ || shared_.loop.clock().now() - test_began_ > launch::kPausableFor) return pids;
  for (const auto& [rank, pid] : pids_) pids.push_back(pid);
  return pids;
}

// ---- the end

void HostedWorld::sweep(bool patient) {
  if (sweep_) throw Error(ErrorKind::InvalidArgument, "a second sweep of a world");
  // Ranks that were dismissed between two tests may have left processes.
  if (resources() == nullptr) between_.emplace(shared_.names, nullptr, tmp_.get(), "");
  runner::TestResources& searched = resources() != nullptr ? *resources() : *between_;
  sweep_ = std::make_unique<runner::Sweep>(shared_.loop, *world_, searched, shared_.graces, patient,
                                           [this](std::vector<runner::Leak> leaks) { finish(std::move(leaks)); });
  sweep_->start();
}

// All output of a program has been sent already.
void HostedWorld::tell_output() {
  world_->finish_output();
  if (request_.program) return;
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
}

void HostedWorld::finish(std::vector<runner::Leak> leaks) {
  tell_output();
  if (!shared_.run.leaks_off) {
    for (runner::Leak& leak : runner::leaks_among(made_, shared_.names)) leaks.push_back(std::move(leak));
  }
  Swept swept{request_.world, {}};
  for (runner::Leak& leak : leaks) {
    swept.left.push_back({static_cast<std::uint8_t>(leak.kind), std::move(leak.what), leak.removed});
  }
  const std::string stuck = test_ ? test_->clear() : "";
  if (!stuck.empty()) swept.left.push_back({static_cast<std::uint8_t>(runner::LeakKind::File), stuck, false});
  output_.when_sent([this, swept = std::move(swept)] { tell(wire::NodeFrame::Swept, swept); });
}

}  // namespace distrun::nodes
