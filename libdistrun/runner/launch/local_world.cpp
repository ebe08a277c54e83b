#include <distrun/runner/launch/local_world.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/launch/process_state.hpp>
#include <distrun/runner/proc/process_tree.hpp>
#include <distrun/runner/proc/tracees.hpp>

namespace distrun::launch {
namespace {

constexpr int kDescendantsMax = 64;  // of all ranks, whose stacks are collected

}  // namespace

LocalWorld::LocalWorld(io::Loop& loop, WorldEvents& events, Options options)
    : loop_(loop),
      events_(events),
      options_(std::move(options)),
      router_(events, *this, options_.shape),
      stacks_(loop, options_.probe, *this, options_.shape.threads ? options_.shape.world_size : 0),
      leftovers_([this](pid_t pid) { return !owns(pid) && !options_.is_foreign(pid); }),
      bodies_(
          loop, events, options_.shape, [this](int rank) -> RankProcess& { return process_of(rank); },
          [this] {
            const std::shared_ptr<LocalWorld> self = shared_from_this();  // a callback may release it
            bodies_.look(*board_);
          }) {
  for (int member = 0; member < members(); ++member) members_.push_back(std::make_unique<RankProcess>(loop));
}

LocalWorld::~LocalWorld() {
  // Reaping is left to the node: a rank in state D would block us here.
  for (const auto& member : members_) member->kill();
}

RankEnds LocalWorld::make_member(std::vector<std::string> ending) {
  const int index = made_;
  RankProcess& member = *members_[static_cast<std::size_t>(index)];
  RankEnds ends = member.make(options_.output_cap);
  member.wrap(std::move(ending));
  ++made_;
  member.follow_output([this, rank = options_.shape.rank_of(index)](Stream stream, std::string_view bytes) {
    events_.on_output(rank, stream, bytes);
  });
  return ends;
}

void LocalWorld::started(int index, pid_t pid) {
  RankProcess& member = *members_[static_cast<std::size_t>(index)];
  member.adopt(pid);
  try {
    member.watch({[this, index](const wire::Frame& frame) { on_frame(index, frame); },
                  [this, index](const std::string& why) { on_lost(index, why); },
                  [this, index](proc::ExitStatus status) { router_.ended(index, status); }});
  } catch (const Error& error) {
    member.end_unwatched();
    // The failure is reported later, when no other rank is about to start.
    loop_.post([weak = weak_from_this(), why = std::string(error.what())] {
      if (const auto alive = weak.lock()) alive->spawn_failed(why);
    });
    return;
  }
  if (board_) bodies_.begin();
  router_.started(index, pid);
}

void LocalWorld::spawn_failed(const std::string& why) { events_.on_spawn_failed(why); }

void LocalWorld::on_lost(int index, const std::string& why) {
  if (!members_[static_cast<std::size_t>(index)]->has_ended()) router_.lost(index, why);
}

void LocalWorld::on_frame(int index, const wire::Frame& frame) {
  if (!frame.is(wire::ControlFrame::Stacks)) return router_.frame(index, frame);
  try {
    stacks_.take(options_.shape.rank_of(index), frame);
  } catch (const Error& error) {
    on_lost(index, std::string("it sent invalid stacks: ") + error.what());
  }
}

bool LocalWorld::owns(pid_t pid) const noexcept {
  const bool is_member = std::any_of(members_.begin(), members_.end(), [pid](const auto& member) {
    return member->pid() == pid && !member->has_ended();
  });
  return is_member || stacks_.is_probe(pid);
}

void LocalWorld::send(int rank, wire::Bytes packed) { process_of(rank).send(std::move(packed)); }

void LocalWorld::signal(int rank, int signal) { process_of(rank).signal(signal); }

void LocalWorld::signal_process(int rank, int signal) { process_of(rank).signal_process(signal); }

std::optional<board::Shown> LocalWorld::shown(int rank) const {
  if (!board_) return std::nullopt;
  return board::read(board_->slot(rank), board_->world_size());
}

std::optional<board::Dump> LocalWorld::crash(int rank) const {
  if (!board_) return std::nullopt;
  return board::read(board_->slot(rank).crash);
}

// A second tracer would be refused, so requests during a collection share its result; a gentle one traces nothing.
void LocalWorld::collect_stacks(const StackOrder& order, OnStacks on_stacks) {
  if (!order.gentle && stacks_.join(order, std::move(on_stacks))) return;
  std::vector<StackCollector::Target> targets;
  for (int index = 0; index < made_; ++index) {
    const RankProcess& member = *members_[static_cast<std::size_t>(index)];
    if (!member.is_alive()) continue;
    const pid_t pid = member.inner_pid();
    if (!order.gentle) proc::let_tracees_go(pid);  // a probe cannot trace what we trace
    targets.push_back({options_.shape.rank_of(index), pid});
  }
  StackOrder whole = order;
  whole.descendants = kDescendantsMax;
  if (order.gentle) return stacks_.collect_gently(std::move(targets), whole, std::move(on_stacks), weak_from_this());
  stacks_.collect(
      std::move(targets), whole, [this](int rank) { return process_of(rank).ask_for_stacks(rank); }, weak_from_this());
}

void LocalWorld::name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank,
                             base::Nanoseconds bound, OnStacks on_stacks) {
  stacks_.name(source, std::move(by_rank), bound, std::move(on_stacks));
}

base::Nanoseconds LocalWorld::cpu_wait(int rank) const { return evidence::cpu_wait_of(process_of(rank).inner_pid()); }

base::Nanoseconds LocalWorld::cpu_time(int rank) const { return evidence::cpu_time_of(process_of(rank).inner_pid()); }

ProcessState LocalWorld::process_state(int rank) const {
  return process_state_of(process_of(rank).pid(), [this](pid_t pid) { return proc::tag_of(pid) == options_.tag; });
}

// Output of threads of one process cannot be separated; it is shown with rank 0.
proc::Captured LocalWorld::standard_output(int rank) const {
  return options_.shape.threads && rank != 0 ? proc::Captured{} : process_of(rank).output(Stream::Out);
}

proc::Captured LocalWorld::standard_error(int rank) const {
  return options_.shape.threads && rank != 0 ? proc::Captured{} : process_of(rank).output(Stream::Err);
}

void LocalWorld::finish_output() {
  for (const auto& member : members_) member->finish_output();
}

void LocalWorld::hold_output(bool hold) {
  for (const auto& member : members_) member->hold_output(hold);
}

void LocalWorld::forget_output() {
  for (const auto& member : members_) member->forget_output();
}

bool LocalWorld::has_offspring() {
  const auto has_children = [](const auto& member) {
    return member->is_alive() && proc::has_living_children(member->pid());
  };
  return std::any_of(members_.begin(), members_.end(), has_children) || !leftovers().empty();
}

std::vector<Leftover> LocalWorld::leftovers() { return leftovers_.find(); }

std::vector<base::HeldName> LocalWorld::held_by_leftovers(const std::vector<std::string>& directories) {
  return leftovers_.held(directories);
}

EndedLeftovers LocalWorld::end_leftovers() { return leftovers_.end(); }

}  // namespace distrun::launch
