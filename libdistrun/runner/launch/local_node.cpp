#include <distrun/runner/launch/local_node.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/runner/launch/descriptors.hpp>
#include <distrun/runner/launch/lister.hpp>
#include <distrun/runner/launch/mount_space.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/environment.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::launch {
namespace {

constexpr int kCloseRounds = 500;  // a millisecond each

constexpr auto kMountBound = std::chrono::seconds(10);

constexpr int kSilencesMax = 2;  // per plugin

// Spawning a rank may take a third of the time for loading its plugin. What is left of that after the zygote's bound is
// for its snapshot.
base::Nanoseconds answer_bound(base::Nanoseconds load_bound) {
  const base::Nanoseconds spawn_bound = load_bound / 3;
  return std::max<base::Nanoseconds>(spawn_bound - std::chrono::seconds(2), spawn_bound / 2);
}

// High bits identify the run, low bits the world; never 0 and never RLIM_INFINITY.
std::uint64_t first_tag(const std::string& run_id) {
  return (base::derive_seed(0, run_id) >> 8 & 0x007fffffff000000ULL) | 0x0080000000000001ULL;
}

wire::MountSpace space_of(const WorldSpec& spec) { return spec.space ? spec.space->name() : wire::MountSpace{}; }

// Returns the command that the member's rank is started under; null: none.
const std::vector<std::string>* wrapper_of(const WorldSpec& spec, int member) {
  const auto rank = static_cast<std::size_t>(spec.first_rank + member);
  return rank < spec.wrappers.size() && !spec.wrappers[rank].empty() ? &spec.wrappers[rank] : nullptr;
}

// Returns the last word of the command with the program's words, by which its process is known; empty: no command.
std::vector<std::string> ending_of(const std::vector<std::string>* wrapper, std::vector<std::string> program) {
  if (wrapper == nullptr) return {};
  program.insert(program.begin(), wrapper->back());
  return program;
}

// Returns `words` after those of the command.
std::vector<std::string> wrapped(const std::vector<std::string>& wrapper, const std::vector<std::string>& words) {
  std::vector<std::string> all = wrapper;
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

// Returns the words by which a command starts a rank of a plugin.
std::vector<std::string> words_under_wrapper(const proc::ChildSpec& rank) {
  std::vector<std::string> words = rank.arguments;
  words.front() = "--wrapped-rank";
  words.insert(words.begin(), rank.program);
  return words;
}

// The command is the process that is started, and gets the descriptors for the rank.
proc::ChildSpec wrapped_rank(const std::vector<std::string>& wrapper, proc::ChildSpec rank) {
  rank.arguments = wrapped({wrapper.begin() + 1, wrapper.end()}, words_under_wrapper(rank));
  rank.program = wrapper.front();
  return rank;
}

// Members are counted from `first`; `first_rank` is the rank of member 0.
void hand_over(LocalWorld& world, int first_rank, int first, const wire::ForkAnswer& answer, int wanted) {
  for (std::size_t i = 0; i < answer.pids.size(); ++i) {
    world.started(first + static_cast<int>(i), answer.pids[i]);
  }
  if (static_cast<int>(answer.pids.size()) < wanted) {
    const int rank = first_rank + first + static_cast<int>(answer.pids.size());
    world.spawn_failed("cannot fork rank " + std::to_string(rank) + ": " + base::fork_errno_text(answer.error));
  }
}

}  // namespace

LocalNode::LocalNode(io::Loop& loop, LocalNodeOptions options)
    : loop_(loop),
      options_(std::move(options)),
      tracees_(loop),
      first_tag_(first_tag(options_.run_id)),
      next_tag_(first_tag_) {}

LocalNode::~LocalNode() { close(); }

std::vector<std::string> LocalNode::environment() const {
  std::vector<std::string> variables = proc::inherited_environment();
  variables.push_back("DISTRUN_RUN_ID=" + options_.run_id);
  return variables;
}

io::Task<wire::PluginTable> LocalNode::list(std::string plugin, wire::ListOrder order, base::Nanoseconds bound) {
  return list_plugin(loop_, options_.rank_program, environment(), std::move(plugin), std::move(order), bound, probe(),
                     [this](HelperProcess* lister) { lister_ = lister; });
}

void LocalNode::cancel() {
  if (lister_ != nullptr) lister_->kill();
  for (const auto& [plugin, zygote] : zygotes_) {
    if (!zygote->usable()) zygote->kill();
  }
}

ZygoteHandle* LocalNode::find_zygote(const std::string& plugin) const {
  const auto found = zygotes_.find(plugin);
  return found != zygotes_.end() && found->second->usable() ? found->second.get() : nullptr;
}

io::Task<Prepared> LocalNode::prepare(std::string plugin, Isolation isolation, base::Nanoseconds bound) {
  Prepared prepared;
  prepared.isolation = isolation;
  if (isolation == Isolation::Program) co_return prepared;
  prepared.isolation = base::ranks_stay(isolation) ? isolation : Isolation::Exec;
  if (isolation == Isolation::Exec) co_return prepared;
  if (const auto known = exec_only_.find(plugin); known != exec_only_.end()) {
    prepared.reason = known->second;
    co_return prepared;
  }
  if (find_zygote(plugin) == nullptr) {
    zygotes_.erase(plugin);
    auto fresh = std::make_unique<ZygoteHandle>(loop_, options_.rank_program, probe(), environment(), plugin);
    ZygoteHandle& zygote = *fresh;
    zygote.bound_answers(answer_bound(bound));
    zygotes_.emplace(plugin, std::move(fresh));
    prepared.reason = co_await zygote.ready(bound);
  }
  if (!prepared.reason.empty()) {
    exec_only_.emplace(plugin, prepared.reason);
    zygotes_.erase(plugin);
    co_return prepared;
  }
  prepared.isolation = isolation;
  co_return prepared;
}

io::Task<std::shared_ptr<MountSpace>> LocalNode::make_mounts(std::vector<Mount> mounts) {
  return make_mount_space(loop_, options_.rank_program, environment(), std::move(mounts), kMountBound);
}

std::shared_ptr<World> LocalNode::spawn(const WorldSpec& spec, WorldEvents& events) {
  const std::uint64_t tag = next_tag_++;
  LocalWorld::Options options;
  options.shape = {spec.world_size, spec.isolation == Isolation::Threads, spec.isolation == Isolation::Program,
                   spec.first_rank, spec.ranks_here > 0 ? spec.ranks_here : spec.world_size};
  options.output_cap = options_.output_cap;
  options.tag = tag;
  options.is_foreign = [this, tag](pid_t pid) { return is_foreign(tag, pid); };
  options.probe = probe();
  auto world = std::make_shared<LocalWorld>(loop_, events, std::move(options));
  std::erase_if(worlds_, [](const auto& old) { return old.expired(); });
  worlds_.push_back(world);
  try {
    require_descriptors(world->members());
    if (spec.isolation == Isolation::Program) {
      exec_programs(world, spec);
      return world;
    }
    world->open_board();
    if (spec.isolation == Isolation::Exec || exec_only_.contains(spec.plugin)) {
      exec_ranks(world, spec);
    } else {
      fork_ranks(world, spec);
    }
  } catch (const Error& error) {
    loop_.post([weak = std::weak_ptr(world), why = std::string(error.what())] {
      if (const auto alive = weak.lock()) alive->spawn_failed(why);
    });
  }
  return world;
}

void LocalNode::fork_ranks(const std::shared_ptr<LocalWorld>& world, const WorldSpec& spec) {
  ZygoteHandle* zygote = find_zygote(spec.plugin);
  if (zygote == nullptr) throw Error(ErrorKind::Disconnected, spec.plugin + ": its zygote has ended");
  for (int first = 0; first < world->members(); first += wire::kRanksPerRequest) {
    fork_some(world, spec, *zygote, first, std::min(wire::kRanksPerRequest, world->members() - first));
  }
}

// One timeout may be due to a user's SIGSTOP; the second is the plugin's fault: a pthread_atfork() handler that hangs.
void LocalNode::note_silence(const std::string& plugin) {
  const auto zygote = zygotes_.find(plugin);
  if (zygote == zygotes_.end() || !zygote->second->is_stuck()) return;
  if (++silences_[plugin] < kSilencesMax) return;
  exec_only_.emplace(plugin, "its zygote twice did not fork ranks in time");
}

void LocalNode::fork_some(const std::shared_ptr<LocalWorld>& world, const WorldSpec& spec, ZygoteHandle& zygote,
                          int first, int count) {
  std::vector<RankEnds> ends;
  std::vector<int> fds;
  for (int i = 0; i < count; ++i) {
    ends.push_back(world->make_member());
    for (const base::Fd* fd : {&ends.back().control, &ends.back().out, &ends.back().err}) fds.push_back(fd->get());
  }
  fds.push_back(world->board_fd());
  const auto on_forked = [this, plugin = spec.plugin, weak = std::weak_ptr(world), first_rank = spec.first_rank, first,
                          count](const std::optional<wire::ForkAnswer>& answer, const std::string& why_not) {
    if (!answer) note_silence(plugin);
    const auto alive = weak.lock();
    if (alive && answer) hand_over(*alive, first_rank, first, *answer, count);
    if (alive && !answer) alive->spawn_failed(why_not);
    // Ranks of a destroyed world see their sockets closed and end.
  };
  zygote.fork({world->tag(), count, options_.files_max, space_of(spec)}, fds, on_forked);
}

void LocalNode::exec_ranks(const std::shared_ptr<LocalWorld>& world, const WorldSpec& spec) {
  proc::ChildSpec plain;
  plain.program = options_.rank_program;
  const wire::MountSpace space = space_of(spec);
  plain.arguments = {"--rank",     spec.plugin, std::to_string(world->tag()), std::to_string(options_.files_max),
                     space.mounts, space.users};
  plain.environment = environment();
  const std::vector<std::string> words = words_under_wrapper(plain);
  for (int member = 0; member < world->members(); ++member) {
    const std::vector<std::string>* wrapper = wrapper_of(spec, member);
    proc::ChildSpec child = wrapper == nullptr ? plain : wrapped_rank(*wrapper, plain);
    const RankEnds ends = world->make_member(ending_of(wrapper, words));
    child.descriptors = {{ends.control.get(), 3}, {world->board_fd(), 4}, {ends.out.get(), 1}, {ends.err.get(), 2}};
    const pid_t pid = proc::start_rank(child).pid;
    world->adopt(member, pid);
    loop_.post([weak = std::weak_ptr(world), member, pid] {
      if (const auto alive = weak.lock()) alive->started(member, pid);
    });
  }
}

// distrun-rank prepares each process and then becomes the program, or the command that it is started under.
void LocalNode::exec_programs(const std::shared_ptr<LocalWorld>& world, const WorldSpec& spec) {
  const ProgramSpec& program = spec.program;
  const wire::MountSpace space = space_of(spec);
  proc::ChildSpec child;
  child.program = options_.rank_program;
  const std::vector<std::string> start{
      "--program", std::to_string(world->tag()), std::to_string(options_.files_max), space.mounts,
      space.users, std::to_string(::getpid())};
  for (int rank = 0; rank < world->members(); ++rank) {
    std::vector<std::string> words = program.arguments;
    const std::vector<std::string>* wrapper = wrapper_of(spec, rank);
    if (wrapper != nullptr) words.front() = program.path;
    const RankEnds ends = world->make_member(ending_of(wrapper, words));
    if (wrapper != nullptr) words = wrapped(*wrapper, words);
    const proc::Variables& variables = program.variables.at(static_cast<std::size_t>(rank));
    child.environment = proc::merged({&program.environment, &variables, &program.overrides});
    child.arguments = start;
    child.arguments.push_back(program.cpus.at(static_cast<std::size_t>(rank)));
    child.arguments.push_back(wrapper != nullptr ? wrapper->front() : program.path);
    child.arguments.insert(child.arguments.end(), words.begin(), words.end());
    child.descriptors = {{ends.control.get(), 3}, {ends.out.get(), 1}, {ends.err.get(), 2}};
    if (spec.first_rank + rank == program.stdin_rank) child.descriptors.emplace_back(program.stdin_fd, 0);
    const pid_t pid = proc::start_rank(child).pid;
    loop_.post([weak = std::weak_ptr(world), rank, pid] {
      if (const auto alive = weak.lock()) alive->started(rank, pid);
    });
  }
}

bool LocalNode::is_foreign(std::uint64_t tag, pid_t pid) const {
  if (spared_.contains(pid)) return true;
  for (const auto& [plugin, zygote] : zygotes_) {
    if (zygote->owns(pid)) return true;
  }
  const std::uint64_t theirs = proc::tag_of(pid);
  for (const auto& weak : worlds_) {
    const auto world = weak.lock();
    if (world && world->tag() != tag && (world->owns(pid) || world->tag() == theirs)) return true;
  }
  // A process of an attempt that is over: if it could not be ended, that was reported then, and it ends when the node
  // closes. But a zombie is reaped by the first world that finds it.
  return theirs != tag && theirs >= first_tag_ && theirs < next_tag_ && !proc::is_zombie(pid);
}

void LocalNode::release(const std::string& plugin) { zygotes_.erase(plugin); }

void LocalNode::close() {
  zygotes_.clear();
  proc::end_children([](pid_t) { return true; }, kCloseRounds);
}

}  // namespace distrun::launch
