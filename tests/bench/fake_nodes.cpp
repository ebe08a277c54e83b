#include "fake_nodes.hpp"

#include <signal.h>
#include <time.h>

#include <string>
#include <utility>

#include <distrun/common/wire/control.hpp>

#include "unit/evidence/samples.hpp"

namespace distrun::bench {
namespace {

using evidence::samples::ThreadSample;
using wire::ControlFrame;
using wire::NodeFrame;

constexpr int kFirstPid = 1000;

std::string host_name(int node) {
  std::string digits = std::to_string(node);
  return "node" + std::string(4 - digits.size(), '0') + digits;
}

std::string address(int node) { return "10.77." + std::to_string(node / 250) + "." + std::to_string(node % 250 + 1); }

// A rank that waits in a collective after many others: the board is full of its operations.
board::Shown shown_of(int rank, int world_size) {
  board::Shown shown;
  shown.pid = shown.body_tid = kFirstPid + rank;
  shown.phase = wire::Phase::Body;
  shown.epoch = board::kOperations;
  board::ShownWait wait;
  wait.kind = board::WaitKind::Barrier;
  wait.name = "barrier \"the end of the epoch\"";
  wait.rule = board::PeerRule::All;
  wait.peers = {rank == 0 ? world_size - 1 : 0};
  wait.tid = shown.body_tid;
  wait.in_body = true;
  wait.since_ns = 1;
  wait.file = "training.cpp";
  wait.line = 35;
  shown.waits.push_back(wait);
  for (std::size_t i = 0; i < board::kOperations; ++i) {
    board::ShownOperation operation;
    operation.number = i;
    operation.name = "all_reduce of gradients";
    operation.at_ns = 1;
    shown.operations.push_back(operation);
  }
  return shown;
}

}  // namespace

base::Nanoseconds thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + base::Nanoseconds(time.tv_nsec);
}

// One node, as its coordinator's link has it: what arrives is handled in a later step of the loop.
class FakeNodes::Node {
 public:
  Node(FakeNodes& all, int number, int first, int count)
      : all_(all), number_(number), first_(first), count_(count), alive_(static_cast<std::size_t>(count)) {}

  void take(const wire::Frame& frame);
  void tell_state();
  int number() const noexcept { return number_; }

  std::vector<wire::Bytes> inbox;
  wire::Bytes outbox;
  bool is_scheduled = false;
  wire::FrameSplitter from_coordinator{wire::kProtocol<NodeFrame>};
  wire::FrameSplitter to_coordinator{wire::kProtocol<NodeFrame>};

 private:
  template <class Message>
  void tell(NodeFrame kind, const Message& message) {
    const wire::Bytes packed = wire::pack(kind, 0, message);
    outbox.insert(outbox.end(), packed.begin(), packed.end());
    ++all_.traffic_.frames_from_nodes;
  }
  template <class Message>
  void tell_of_rank(int rank, ControlFrame kind, const Message& message) {
    tell(NodeFrame::FromRank,
         nodes::RankBytes{world_, rank, nodes::text_of(wire::pack(kind, static_cast<std::uint16_t>(rank), message))});
  }
  char& alive(int rank) { return alive_[static_cast<std::size_t>(rank - first_)]; }
  void spawn(const nodes::SpawnRequest& request);
  void begin(int rank);
  void end(int rank, int signal);
  nodes::RankView view_of(int rank) const;
  nodes::WorldState state() const;
  evidence::Stacks stacks() const;

  FakeNodes& all_;
  const int number_, first_, count_;
  std::uint32_t world_ = 0;
  std::int64_t cpu_ns_ = 0;
  std::vector<char> alive_;
};

void FakeNodes::Node::spawn(const nodes::SpawnRequest& request) {
  world_ = request.world;
  tell(NodeFrame::Spawned, nodes::Spawned{world_, {4000, 4001}});
  for (int rank = first_; rank < first_ + count_; ++rank) {
    alive(rank) = 1;
    tell(NodeFrame::RankStarted, nodes::RankStarted{world_, rank, kFirstPid + rank});
    tell_of_rank(rank, ControlFrame::Hello, wire::Hello{wire::kControlAbi, kFirstPid + rank});
  }
}

void FakeNodes::Node::begin(int rank) {
  ++all_.begun_;
  tell_of_rank(rank, ControlFrame::Phase, wire::PhaseChange{wire::Phase::Body});
  if (all_.kind_ == Ranks::Hang) {
    // A real node tells the board of its ranks after a tenth of a second.
    if (rank == first_ + count_ - 1) tell_state();
    return;
  }
  wire::Done done;
  done.passed = true;
  tell_of_rank(rank, ControlFrame::Done, done);
  end(rank, 0);
}

void FakeNodes::Node::end(int rank, int signal) {
  if (std::exchange(alive(rank), 0) == 0) return;
  nodes::RankEnded ended;
  ended.world = world_;
  ended.last.rank = rank;
  ended.signal = signal;
  tell(NodeFrame::RankEnded, ended);
}

nodes::RankView FakeNodes::Node::view_of(int rank) const {
  nodes::RankView view;
  view.rank = rank;
  view.shown = shown_of(rank, all_.world_size_);
  view.cpu_time_ns = cpu_ns_;
  view.process.exists = true;
  return view;
}

nodes::WorldState FakeNodes::Node::state() const {
  nodes::WorldState state{world_, {}};
  for (int rank = first_; rank < first_ + count_; ++rank) state.ranks.push_back(view_of(rank));
  return state;
}

void FakeNodes::Node::tell_state() {
  cpu_ns_ += 1'000'000;
  tell(NodeFrame::State, state());
}

evidence::Stacks FakeNodes::Node::stacks() const {
  using namespace evidence::samples;
  evidence::Stacks stacks;
  for (int rank = first_; rank < first_ + count_; ++rank) {
    const int pid = kFirstPid + rank;
    add_process(stacks, rank, pid, {ThreadSample(pid, "rank", in_barrier() + under_rank_main()), listener(pid + 1)});
  }
  return stacks;
}

void FakeNodes::Node::take(const wire::Frame& frame) {
  using nodes::payload;
  switch (frame.kind_as<NodeFrame>()) {
    case NodeFrame::Prepare: {
      nodes::PreparedAnswer answer;
      answer.id = payload<nodes::PrepareRequest>(frame).id;
      return tell(NodeFrame::Prepared, answer);
    }
    case NodeFrame::Spawn: return spawn(payload<nodes::SpawnRequest>(frame));
    case NodeFrame::ToRank: {
      const auto order = payload<nodes::RankBytes>(frame);
      wire::FrameSplitter splitter(wire::kProtocol<ControlFrame>);
      splitter.feed(nodes::bytes_of(order.bytes));
      if (splitter.next()->is(ControlFrame::Run)) begin(order.rank);
      return;
    }
    case NodeFrame::Signal: {
      const auto order = payload<nodes::SignalOrder>(frame);
      if (order.signal == SIGTERM || order.signal == SIGKILL) end(order.rank, order.signal);
      return;
    }
    case NodeFrame::Collect: {
      if (number_ == 0) all_.cpu_when_asked_ = thread_cpu_time() - all_.nodes_cpu_;
      return tell(NodeFrame::Collected, nodes::Collected{payload<nodes::CollectRequest>(frame).id, stacks(), state()});
    }
    case NodeFrame::Sweep: return tell(NodeFrame::Swept, nodes::Swept{world_, {}});
    default: return;
  }
}

FakeNodes::FakeNodes(io::Loop& loop, int nodes, int ranks_each, Ranks ranks)
    : loop_(loop), kind_(ranks), world_size_(nodes * ranks_each) {
  set_ = std::make_unique<nodes::NodeSet>(
      loop, ranks_each, [&loop] { return std::make_shared<nodes::WorldStore>(loop, "127.0.0.1", "secret"); });
  for (int i = 0; i < nodes; ++i) {
    nodes_.push_back(std::make_unique<Node>(*this, i, i * ranks_each, ranks_each));
    Node& node = *nodes_.back();
    nodes::RemoteNode::Link link{[this, &node](wire::Bytes packed) {
                                   ++traffic_.frames_to_nodes;
                                   traffic_.bytes_to_nodes += packed.size();
                                   node.inbox.push_back(std::move(packed));
                                   schedule(node);
                                 },
                                 [] { return nodes::Offset{}; }};
    set_->add(std::make_unique<nodes::RemoteNode>(loop, i, host_name(i), address(i), std::move(link)),
              {host_name(i), ranks_each});
  }
}

FakeNodes::~FakeNodes() = default;

void FakeNodes::schedule(Node& node) {
  if (std::exchange(node.is_scheduled, true)) return;
  loop_.post([this, &node] { turn(node); });
}

// Does the node's part and then the coordinator's: its answers as they come from a socket.
void FakeNodes::turn(Node& node) {
  const base::Nanoseconds before = thread_cpu_time();
  node.is_scheduled = false;
  for (const wire::Bytes& packed : std::exchange(node.inbox, {})) node.from_coordinator.feed(wire::view_of(packed));
  while (const auto frame = node.from_coordinator.next()) node.take(*frame);
  nodes_cpu_ += thread_cpu_time() - before;
  const wire::Bytes answers = std::exchange(node.outbox, {});
  traffic_.bytes_from_nodes += answers.size();
  node.to_coordinator.feed(wire::view_of(answers));
  while (const auto frame = node.to_coordinator.next()) set_->at(node.number()).take(*frame);
}

void FakeNodes::tell_states() {
  const base::Nanoseconds before = thread_cpu_time();
  for (const auto& node : nodes_) {
    node->tell_state();
    schedule(*node);
  }
  nodes_cpu_ += thread_cpu_time() - before;
}

}  // namespace distrun::bench
