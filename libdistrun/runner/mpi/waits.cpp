#include <distrun/runner/mpi/waits.hpp>

#include <algorithm>
#include <map>

#include <distrun/runner/mpi/calls.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::mpi {
namespace {

constexpr char kInit[] = "MPI_Init";
constexpr char kFinalize[] = "MPI_Finalize";

// The main thread of the rank waits there for all of `peers`.
board::ShownWait wait_of(board::WaitKind kind, std::string name, std::vector<int> peers, int pid) {
  board::ShownWait wait;
  wait.kind = kind;
  wait.name = std::move(name);
  wait.rule = board::PeerRule::All;
  wait.peers = std::move(peers);
  wait.tid = pid;
  wait.in_body = true;
  return wait;
}

std::vector<int> ranks_with(int world_size, const std::function<bool(int rank)>& is_wanted) {
  std::vector<int> ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    if (is_wanted(rank)) ranks.push_back(rank);
  }
  return ranks;
}

bool are_all_inside(const Server& server) {
  return ranks_with(server.size(), [&](int rank) { return server.member(rank).stage == Stage::Outside; }).empty();
}

// Returns the calls that the main threads of ranks are in, by rank.
std::map<int, Call> calls_in(const evidence::Stacks& stacks) {
  std::map<int, Call> calls;
  for (const evidence::Process& process : stacks.processes) {
    if (process.rank < 0 || process.threads.empty()) continue;
    Call call = call_of(process.threads.front(), stacks.table);
    if (!call.name.empty()) calls.emplace(process.rank, std::move(call));
  }
  return calls;
}

bool are_of_world(const std::map<int, Call>& calls, int world_size) {
  const auto count =
      std::count_if(calls.begin(), calls.end(), [](const auto& each) { return is_collective(each.second.name); });
  return 2 * count > world_size;
}

void set_site(board::ShownWait& wait, const Call& call) {
  wait.file = call.file;
  wait.line = call.line;
}

}  // namespace

std::optional<board::Shown> shown_by(const Server& server, const Body& body) {
  if (!server.has_joined()) return std::nullopt;
  board::Shown shown;
  shown.pid = shown.body_tid = body.pid;
  shown.phase = body.phase;
  shown.phase_since_ns = runner::monotonic_ns(body.since);
  const Member& member = server.member(body.rank);
  if (member.stage == Stage::Joined && !are_all_inside(server)) {
    board::ShownWait wait =
        wait_of(board::WaitKind::Barrier, kInit, ranks_with(server.size(), [](int) { return true; }), body.pid);
    wait.since_ns = runner::monotonic_ns(member.since);
    shown.waits.push_back(std::move(wait));
  }
  return shown;
}

void add_calls(int world_size, const std::function<bool(int rank)>& has_left, runner::Snapshot& snapshot) {
  const std::map<int, Call> calls = calls_in(snapshot.stacks);
  const bool is_world = are_of_world(calls, world_size);
  const std::vector<int> peers = ranks_with(world_size, [&](int rank) { return !has_left(rank); });
  for (runner::RankView& view : snapshot.ranks) {
    const auto found = calls.find(view.rank);
    if (!view.shown || found == calls.end()) continue;
    const Call& call = found->second;
    std::vector<board::ShownWait>& waits = view.shown->waits;
    if (!waits.empty()) {
      if (call.name.starts_with(waits.front().name)) set_site(waits.front(), call);  // MPI_Init, or MPI_Init_thread
    } else if (is_collective(call.name) && (is_world || call.name == kFinalize)) {
      waits.push_back(wait_of(board::WaitKind::Collective, call.name, peers, view.shown->pid));
      set_site(waits.back(), call);
    }
  }
}

void add_calls(const Server& server, runner::Snapshot& snapshot) {
  add_calls(
      server.size(), [&server](int rank) { return server.member(rank).stage == Stage::Left; }, snapshot);
}

}  // namespace distrun::mpi
