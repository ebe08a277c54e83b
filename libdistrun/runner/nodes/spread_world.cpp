#include <distrun/runner/nodes/spread_world.hpp>

#include <signal.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rank_list.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kEarlyMax = 1 << 16;  // bytes of the frames of ranks that wait for their world, of each rank

std::string ranks_text(int first, int count) {
  return count == 1 ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(first + count - 1);
}

launch::Spread spread_of(const std::vector<SpreadWorld::Part>& parts, std::string store) {
  launch::Spread spread;
  for (const SpreadWorld::Part& part : parts) {
    spread.host_of.insert(spread.host_of.end(), static_cast<std::size_t>(part.count), part.node->host());
    spread.hosts += (spread.hosts.empty() ? "" : ";") + part.node->host() + "=" + ranks_text(part.first, part.count);
  }
  if (parts.size() == 1) spread.hosts.clear();
  spread.master_address = parts.size() == 1 ? "127.0.0.1" : parts.front().node->address();
  spread.store = std::move(store);
  return spread;
}

}  // namespace

// ---- stacks of several nodes

// Waits for the answers of all nodes. Shared by the callbacks that wait; ends with the last.
class SpreadWorld::Gathering {
 public:
  Gathering(std::weak_ptr<SpreadWorld> world, launch::OnStacks on_stacks)
      : world_(std::move(world)), on_stacks_(std::move(on_stacks)) {}
  ~Gathering() {
    if (!world_.expired()) on_stacks_(std::move(all_));
  }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  // Returns a callback for the answer of a node to a request for its ranks' stacks.
  static RemoteNode::OnStacks of_node(std::shared_ptr<Gathering> all, int node) {
    return [all = std::move(all), node](Collected collected) { all->take(node, std::move(collected)); };
  }
  // The same to a request for names. `positions` are those of its stacks among the stacks of all nodes.
  static RemoteNode::OnStacks of_node(std::shared_ptr<Gathering> all, int node, std::vector<int> positions) {
    return [all = std::move(all), node, positions = std::move(positions)](Collected collected) {
      all->take_named(node, std::move(collected.stacks), positions);
    };
  }

 private:
  void take(int node, Collected collected) {
    const auto world = world_.lock();
    if (!world) return;
    append(all_, nodes::checked(std::move(collected.stacks), node));
    if (!collected.state.ranks.empty()) world->take_state(world->part_on(node), std::move(collected.state));
  }
  void take_named(int node, evidence::Stacks stacks, const std::vector<int>& positions) {
    std::erase_if(stacks.processes, [&](const evidence::Process& process) {
      return process.index < 0 || static_cast<std::size_t>(process.index) >= positions.size();
    });
    const std::size_t before = all_.processes.size();
    std::vector<int> indices;
    stacks = nodes::checked(std::move(stacks), node);
    for (const evidence::Process& process : stacks.processes) {
      indices.push_back(positions[static_cast<std::size_t>(process.index)]);
    }
    append(all_, std::move(stacks));
    for (std::size_t i = 0; i < indices.size(); ++i) all_.processes[before + i].index = indices[i];
  }

  std::weak_ptr<SpreadWorld> world_;
  launch::OnStacks on_stacks_;
  evidence::Stacks all_;
};

void SpreadWorld::collect_stacks(const launch::StackOrder& order, launch::OnStacks on_stacks) {
  auto all = std::make_shared<Gathering>(weak_from_this(), std::move(on_stacks));
  for (const Part& part : parts_) {
    part.node->collect(number_, order.samples, order.bound, order.gentle, Gathering::of_node(all, part.node->number()));
  }
  loop_.post([all = std::move(all)] {});  // it is not over before this returns
}

void SpreadWorld::name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank,
                              base::Nanoseconds bound, launch::OnStacks on_stacks) {
  auto all = std::make_shared<Gathering>(weak_from_this(), std::move(on_stacks));
  struct OfNode {
    NameRequest request;
    std::vector<int> positions;
  };
  std::map<RemoteNode*, OfNode> by_node;
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    OfNode& its = by_node[part_of(by_rank[i].first).node];
    its.request.stacks.push_back({by_rank[i].first, std::move(by_rank[i].second)});
    its.positions.push_back(static_cast<int>(i));
  }
  for (auto& [node, its] : by_node) {
    its.request.world = number_;
    its.request.source = source;
    its.request.bound_ns = bound.count();
    node->name_stacks(std::move(its.request), Gathering::of_node(all, node->number(), std::move(its.positions)));
  }
  loop_.post([all = std::move(all)] {});
}

// ---- the world

SpreadWorld::SpreadWorld(io::Loop& loop, launch::WorldEvents& events, std::uint32_t number, std::vector<Part> parts,
                         std::string store, std::shared_ptr<const void> keeps)
    : loop_(loop),
      events_(events),
      number_(number),
      parts_(std::move(parts)),
      spread_(spread_of(parts_, std::move(store))),
      keeps_(std::move(keeps)),
      ranks_(spread_.host_of.size()) {}

SpreadWorld::~SpreadWorld() {
  for (const Part& part : parts_) {
    try {
      part.node->tell(wire::NodeFrame::EndWorld, WorldOrder{number_, false});
    } catch (const Error&) {
      // The node does not read; the loss of its link ends its ranks.
    }
  }
}

void SpreadWorld::begin(const launch::WorldSpec& spec) {
  SpawnRequest request{number_, spec.plugin, spec.isolation, spec.world_size};
  request.test = spec.test;
  request.env_rendezvous = spec.env_rendezvous;
  request.own_gpu = spec.own_gpu;
  request.hosts = spread_.hosts;
  for (const Part& part : parts_) {
    part.node->add_world(number_, weak_from_this());
    std::string why = part.node->lost();
    request.first_rank = part.first;
    request.ranks_here = part.count;
    request.wants_ports = part.first == 0;
    try {
      part.node->tell(wire::NodeFrame::Spawn, request);
    } catch (const Error& error) {
      why = error.what();
    }
    if (why.empty()) continue;
    loop_.post([weak = weak_from_this(), why] {
      if (const auto alive = weak.lock()) alive->events_.on_spawn_failed(why);
    });
    return;
  }
}

// Parts are in the order of their nodes, which is that of their ranks: each frame asks for one.
SpreadWorld::Part& SpreadWorld::part_of(int rank) {
  return *std::prev(
      std::partition_point(parts_.begin(), parts_.end(), [rank](const Part& part) { return part.first <= rank; }));
}

SpreadWorld::Part& SpreadWorld::part_on(int node) {
  return *std::partition_point(parts_.begin(), parts_.end(),
                               [node](const Part& part) { return part.node->number() < node; });
}

int SpreadWorld::checked(int rank, const Part& part) const {
  if (rank >= part.first && rank - part.first < part.count) return rank;
  throw Error(ErrorKind::InvalidArgument, "a rank that does not run there");
}

void SpreadWorld::send(int rank, wire::Bytes packed) {
  if (at(rank).has_ended) return;
  part_of(rank).node->tell(wire::NodeFrame::ToRank, RankBytes{number_, rank, text_of(packed)});
}

void SpreadWorld::tell_signal(int rank, int signal, bool process_only) {
  if (at(rank).has_ended) return;
  try {
    part_of(rank).node->tell(wire::NodeFrame::Signal, SignalOrder{number_, rank, signal, process_only});
  } catch (const Error&) {
    // The node does not read: its link is lost soon, which ends its ranks.
  }
}

void SpreadWorld::hold_output(bool hold) {
  for (const Part& part : parts_) part.node->tell(wire::NodeFrame::HoldOutput, WorldOrder{number_, hold});
}

// ---- what the nodes tell

void SpreadWorld::take(int node, const wire::Frame& frame) {
  const std::shared_ptr<SpreadWorld> self = shared_from_this();  // an event may release it
  Part& part = part_on(node);
  if (!part.is_lost) take_checked(part, frame);
}

void SpreadWorld::take_checked(Part& part, const wire::Frame& frame) {
  using Kind = wire::NodeFrame;
  switch (frame.kind_as<Kind>()) {
    case Kind::Spawned: return on_spawned(part, payload<Spawned>(frame));
    case Kind::State: return take_state(part, payload<WorldState>(frame));
    case Kind::FromRank: return on_frame_of_rank(part, frame);
    case Kind::RankEnded: return on_ended(part, payload<RankEnded>(frame));
    case Kind::Captured: return on_captured(part, payload<CapturedStream>(frame));
    case Kind::Swept: return on_swept(part, payload<Swept>(frame).left);
    case Kind::SpawnFailed:
      return events_.on_spawn_failed(payload<RankText>(frame).text + " (on " + part.node->host() + ")");
    case Kind::RankStarted: {
      const auto started = payload<RankStarted>(frame);
      at(checked(started.rank, part)).pid = started.pid;
      return events_.on_rank_started(started.rank, started.pid);
    }
    case Kind::ConnectionLost: {
      const auto lost = payload<RankText>(frame);
      return events_.on_connection_lost(checked(lost.rank, part), lost.text);
    }
    case Kind::StrayChild: return events_.on_stray_child(checked(payload<RankText>(frame).rank, part));
    case Kind::Output: {
      const auto piece = payload<OutputPiece>(frame);
      const auto stream = piece.stream == launch::Stream::Err ? launch::Stream::Err : launch::Stream::Out;
      return events_.on_output(checked(piece.rank, part), stream, piece.bytes);
    }
    default: throw Error(ErrorKind::InvalidArgument, "no frame of a world");
  }
}

void SpreadWorld::take_state(const Part& part, WorldState state) {
  for (RankView& view : state.ranks) {
    const int rank = checked(view.rank, part);
    at(rank).take(std::move(view), part.node->offset(), static_cast<int>(ranks_.size()));
  }
}

// The orders of all ranks name the ports of rank 0's host.
void SpreadWorld::on_spawned(const Part& part, const Spawned& answer) {
  if (part.first != 0 || may_begin_) return;
  spread_.master_port = answer.master_port;
  spread_.rendezvous_port = answer.rendezvous_port;
  may_begin_ = true;
  for (const wire::Frame& frame : std::exchange(early_, {})) on_frame_of_rank(part_on(frame.rank), frame);
}

void SpreadWorld::on_frame_of_rank(const Part& part, const wire::Frame& frame) {
  if (!may_begin_) {
    if (frame.payload.size() > kEarlyMax || early_.size() > ranks_.size()) {
      throw Error(ErrorKind::InvalidArgument, "too much of a rank that has no order yet");
    }
    early_.emplace_back(frame.kind, static_cast<std::uint16_t>(part.node->number()), frame.payload);
    return;
  }
  const auto bytes = payload<RankBytes>(frame);
  const int rank = checked(bytes.rank, part);
  wire::FrameSplitter splitter(wire::kProtocol<wire::ControlFrame>);
  splitter.feed(bytes_of(bytes.bytes));
  while (const std::optional<wire::Frame> inner = splitter.next()) events_.on_frame(rank, *inner);
}

void SpreadWorld::on_ended(const Part& part, RankEnded ended) {
  const int rank = checked(ended.last.rank, part);
  RankMirror& mirror = at(rank);
  if (mirror.has_ended) throw Error(ErrorKind::InvalidArgument, "a rank that ended twice");
  mirror.take(std::move(ended.last), part.node->offset(), static_cast<int>(ranks_.size()));
  mirror.has_ended = true;
  const proc::ExitStatus status =
      ended.signal != 0 ? proc::ExitStatus::of_signal(ended.signal) : proc::ExitStatus::of_code(ended.code);
  events_.on_rank_ended(rank, status, ended.because_of);
}

void SpreadWorld::on_captured(const Part& part, CapturedStream captured) {
  RankMirror& mirror = at(checked(captured.rank, part));
  proc::Captured& kept = captured.stream == launch::Stream::Err ? mirror.err : mirror.out;
  kept = {std::move(captured.text), captured.bytes_total, captured.bytes_dropped};
}

// ---- the end

void SpreadWorld::sweep(bool patient, std::function<void(std::vector<launch::LeftBehind>)> on_swept) {
  on_swept_ = std::move(on_swept);
  for (Part& part : parts_) {
    if (part.is_lost || !part.node->lost().empty()) part.is_swept = true;
    if (!part.is_swept) part.node->tell(wire::NodeFrame::Sweep, WorldOrder{number_, patient});
  }
  loop_.post([weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->check_swept();
  });
}

void SpreadWorld::on_swept(Part& part, std::vector<launch::LeftBehind> left) {
  if (!on_swept_ || part.is_swept) throw Error(ErrorKind::InvalidArgument, "a sweep without a request");
  part.is_swept = true;
  for (launch::LeftBehind& each : left) {
    each.what += " on " + part.node->host();
    left_.push_back(std::move(each));
  }
  check_swept();
}

void SpreadWorld::check_swept() {
  if (!on_swept_ || !std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.is_swept; })) return;
  std::exchange(on_swept_, {})(std::move(left_));
}

void SpreadWorld::lose(int node, const std::string& why) {
  const std::shared_ptr<SpreadWorld> self = shared_from_this();
  Part& part = part_on(node);
  if (std::exchange(part.is_lost, true)) return;
  std::vector<int> ranks;
  for (int rank = part.first; rank < part.first + part.count; ++rank) ranks.push_back(rank);
  events_.on_host_lost(ranks, why);
  for (const int rank : ranks) {
    RankMirror& mirror = at(rank);
    if (mirror.pid == 0 || std::exchange(mirror.has_ended, true)) continue;
    events_.on_rank_ended(rank, proc::ExitStatus::of_signal(SIGKILL), -1);
  }
  part.is_swept = true;
  check_swept();
}

}  // namespace distrun::nodes
