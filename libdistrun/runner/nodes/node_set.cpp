#include <distrun/runner/nodes/node_set.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runner/nodes/split_world.hpp>

namespace distrun::nodes {
namespace {

constexpr const char* kNoThreads =
    "with --hosts ranks are separate processes, which are kept from one test to the next as threads are";

}  // namespace

void NodeSet::add(std::unique_ptr<RemoteNode> node, HostSlot slot, launch::Resources resources) {
  nodes_.push_back(std::move(node));
  slots_.push_back(std::move(slot));
  resources_.push_back(std::move(resources));
}

template <class Message>
void NodeSet::tell_all(wire::NodeFrame kind, const Message& message) {
  for (const auto& node : nodes_) {
    try {
      node->tell(kind, message);
    } catch (const Error&) {
      // It does not read: its link is lost soon.
    }
  }
}

io::Task<wire::PluginTable> NodeSet::list(std::string plugin, wire::ListOrder order, base::Nanoseconds bound) {
  RemoteNode& node = *nodes_.front();
  const RemoteNode::Reply<Listed> reply = node.list(plugin, order, bound);
  const Listed answer = co_await reply->wait();
  if (!answer.error.empty()) throw Error(ErrorKind::Failed, answer.error);
  co_return wire::read_plugin_table(bytes_of(answer.table));
}

io::Task<launch::Prepared> NodeSet::prepare(std::string plugin, Isolation isolation, base::Nanoseconds bound) {
  launch::Prepared all;
  all.isolation = isolation;
  if (isolation == Isolation::Program) co_return all;
  if (isolation == Isolation::Threads) all.reason = kNoThreads;
  const Isolation wanted = isolation == Isolation::Threads ? Isolation::Pool : isolation;
  all.isolation = wanted;
  std::vector<RemoteNode::Reply<PreparedAnswer>> replies;
  for (const auto& node : nodes_) replies.push_back(node->prepare(plugin, wanted, bound));
  std::string failure;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const PreparedAnswer answer = co_await replies[i]->wait();
    if (!nodes_[i]->lost().empty()) continue;  // worlds that need it fail; others do not
    if (!answer.error.empty() && failure.empty()) failure = answer.error + " (on " + nodes_[i]->host() + ")";
    if (answer.reason.empty()) continue;
    if (wanted == Isolation::Process) all.isolation = Isolation::Exec;
    all.reason = answer.reason + " (on " + nodes_[i]->host() + ")";
  }
  if (!failure.empty()) throw Error(ErrorKind::Failed, failure);
  co_return all;
}

io::Task<std::shared_ptr<launch::MountSpace>> NodeSet::make_mounts(std::vector<launch::Mount> /*mounts*/) {
  throw Error(ErrorKind::Unimplemented, "nodes make the mounts of their ranks themselves");
  co_return nullptr;
}

// Waits for the answers of all nodes, and throws what one of them has said.
io::Task<void> NodeSet::demand(std::vector<RemoteNode::Reply<PreparedAnswer>> replies, ErrorKind kind) {
  std::string failure;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const PreparedAnswer answer = co_await replies[i]->wait();
    if (!nodes_[i]->lost().empty()) continue;  // as in prepare()
    if (!answer.error.empty() && failure.empty()) failure = answer.error + " (on " + nodes_[i]->host() + ")";
  }
  if (!failure.empty()) throw Error(kind, failure);
}

io::Task<void> NodeSet::require_private_tmp() {
  std::vector<RemoteNode::Reply<PreparedAnswer>> replies;
  for (const auto& node : nodes_) replies.push_back(node->try_private_tmp());
  co_await demand(std::move(replies), ErrorKind::Failed);
}

// Hosts that were busy in step would hide what happens when one of them is slow.
io::Task<void> NodeSet::begin_load(launch::LoadPlan plan) {
  std::vector<RemoteNode::Reply<PreparedAnswer>> replies;
  for (const auto& node : nodes_) {
    launch::LoadPlan own = plan;
    own.seed = base::derive_seed(plan.seed, "host " + std::to_string(node->number()));
    replies.push_back(node->begin_load(own));
  }
  co_await demand(std::move(replies), ErrorKind::Overloaded);
}

void NodeSet::end_load() { tell_all(wire::NodeFrame::EndLoad, CloseOrder{}); }

std::vector<int> NodeSet::split(int world_size) const {
  if (world_size < 1) return std::vector<int>(slots_.size(), 0);  // of a test that is skipped
  try {
    return split_world(world_size, slots_, per_host_);
  } catch (const Error&) {
    std::vector<int> ranks(slots_.size(), 0);
    ranks.front() = world_size;
    return ranks;
  }
}

std::vector<SpreadRanks::Part> NodeSet::parts_for(int world_size) const {
  const std::vector<int> counts = split_world(world_size, slots_, per_host_);
  std::vector<SpreadRanks::Part> parts;
  int first = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) parts.push_back({nodes_[i].get(), first, counts[i]});
    first += counts[i];
  }
  return parts;
}

std::shared_ptr<launch::World> NodeSet::spawn(const launch::WorldSpec& spec, launch::WorldEvents& events) {
  std::vector<SpreadRanks::Part> parts;
  std::string why;
  try {
    parts = parts_for(spec.world_size);
  } catch (const Error& error) {
    why = error.what();
    parts = {{nodes_.front().get(), 0, spec.world_size}};
  }
  const bool needs_store = parts.size() > 1 && spec.isolation != Isolation::Program;
  auto world = std::make_shared<SpreadWorld>(loop_, events, ++last_world_, std::move(parts),
                                             needs_store ? make_store_ : SpreadWorld::MakeStore());
  why.empty() ? world->begin(spec) : world->fail(std::move(why));
  return world;
}

void NodeSet::cancel() { tell_all(wire::NodeFrame::Cancel, CloseOrder{}); }

void NodeSet::release(const std::string& plugin) { tell_all(wire::NodeFrame::Release, ReleaseOrder{plugin}); }

io::Task<std::vector<Closed>> NodeSet::close_all(base::Nanoseconds bound) {
  std::vector<RemoteNode::Reply<Closed>> replies;
  for (const auto& node : nodes_) {
    std::string why;
    try {
      replies.push_back(node->close());
    } catch (const Error& error) {
      why = error.what();
    }
    if (!why.empty()) {
      node->lose(why);
      replies.push_back(node->close());
    }
  }
  io::Alarm late(loop_, [this] {
    for (const auto& node : nodes_) node->lose("it did not end in time");
  });
  late.set_after(bound);
  std::vector<Closed> found;
  for (const RemoteNode::Reply<Closed>& reply : replies) found.push_back(co_await reply->wait());
  co_return found;
}

}  // namespace distrun::nodes
