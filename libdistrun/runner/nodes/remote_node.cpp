#include <distrun/runner/nodes/remote_node.hpp>

#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

template <class Answer>
void answer(std::map<std::uint32_t, RemoteNode::Reply<Answer>>& open, Answer with) {
  const auto found = open.find(with.id);
  if (found == open.end()) throw Error(ErrorKind::InvalidArgument, "an answer to no request");
  const RemoteNode::Reply<Answer> reply = std::move(found->second);
  open.erase(found);
  reply->set(std::move(with));
}

template <class Answer>
void fail(std::map<std::uint32_t, RemoteNode::Reply<Answer>>& open, const std::string& why) {
  for (auto& [id, reply] : std::exchange(open, {})) {
    Answer failed;
    failed.id = id;
    failed.error = why;
    reply->set(std::move(failed));
  }
}

}  // namespace

base::Nanoseconds RemoteNode::offset() const {
  const std::optional<Offset> ahead = link_.offset();
  return ahead ? ahead->offset : base::Nanoseconds::zero();
}

std::optional<launch::Moment> RemoteNode::moment(std::int64_t at_ns) const {
  const std::optional<Offset> ahead = link_.offset();
  std::int64_t here_ns = 0;
  if (!ahead || at_ns <= 0 || __builtin_add_overflow(at_ns, ahead->offset.count(), &here_ns)) return std::nullopt;
  return launch::Moment{base::TimePoint(base::Nanoseconds(here_ns)), ahead->error};
}

RemoteNode::Reply<Listed> RemoteNode::list(const std::string& plugin, const wire::ListOrder& order,
                                           base::Nanoseconds bound) {
  auto reply = std::make_shared<io::OneShot<Listed>>(loop_);
  const std::uint32_t id = ++last_id_;
  listings_.emplace(id, reply);
  if (!lost_.empty()) fail(listings_, lost_);
  tell(wire::NodeFrame::List, ListRequest{id, plugin, order, bound.count()});
  return reply;
}

template <class Request>
RemoteNode::Reply<PreparedAnswer> RemoteNode::ask(wire::NodeFrame kind, Request request) {
  auto reply = std::make_shared<io::OneShot<PreparedAnswer>>(loop_);
  request.id = ++last_id_;
  preparations_.emplace(request.id, reply);
  if (!lost_.empty()) fail(preparations_, lost_);
  tell(kind, request);
  return reply;
}

RemoteNode::Reply<PreparedAnswer> RemoteNode::prepare(const std::string& plugin, Isolation isolation,
                                                      base::Nanoseconds bound) {
  return ask(wire::NodeFrame::Prepare, PrepareRequest{0, plugin, isolation, bound.count()});
}

RemoteNode::Reply<PreparedAnswer> RemoteNode::try_private_tmp() {
  return ask(wire::NodeFrame::TryPrivateTmp, TrialRequest{});
}

RemoteNode::Reply<PreparedAnswer> RemoteNode::begin_load(const launch::LoadPlan& plan) {
  return ask(wire::NodeFrame::BeginLoad, LoadRequest{0, plan});
}

RemoteNode::Reply<Closed> RemoteNode::close() {
  if (closing_) return closing_;
  closing_ = std::make_shared<io::OneShot<Closed>>(loop_);
  if (!lost_.empty()) closing_->set({});
  tell(wire::NodeFrame::Close, CloseOrder{});
  return closing_;
}

void RemoteNode::collect(std::uint32_t world, const launch::StackOrder& order, OnStacks on_stacks) {
  if (!lost_.empty()) return on_stacks({});
  const std::uint32_t id = ++last_id_;
  collections_.emplace(id, std::move(on_stacks));
  tell(wire::NodeFrame::Collect,
       CollectRequest{id, world, order.samples, order.bound.count(), order.gentle, order.settle.count()});
}

void RemoteNode::name_stacks(NameRequest request, OnStacks on_stacks) {
  if (!lost_.empty()) return on_stacks({});
  request.id = ++last_id_;
  collections_.emplace(request.id, std::move(on_stacks));
  tell(wire::NodeFrame::NameStacks, request);
}

void RemoteNode::add_world(std::uint32_t number, std::weak_ptr<WorldPart> part) {
  std::erase_if(worlds_, [](const auto& each) { return each.second.expired(); });
  worlds_.emplace(number, std::move(part));
}

// Each message of a world begins with its number.
std::shared_ptr<RemoteNode::WorldPart> RemoteNode::find(const wire::Frame& frame) {
  wire::Decoder decoder(wire::view_of(frame.payload));
  std::uint32_t number = 0;
  decoder(number);
  const auto found = worlds_.find(number);
  return found == worlds_.end() ? nullptr : found->second.lock();
}

void RemoteNode::take(const wire::Frame& frame) {
  using Kind = wire::NodeFrame;
  switch (frame.kind_as<Kind>()) {
    case Kind::Listed: return answer(listings_, payload<Listed>(frame));
    case Kind::Prepared: return answer(preparations_, payload<PreparedAnswer>(frame));
    case Kind::Closed:
      if (!closing_ || closing_->is_set()) throw Error(ErrorKind::InvalidArgument, "it closed without an order");
      return closing_->set(payload<Closed>(frame));
    case Kind::Collected: {
      auto collected = payload<Collected>(frame);
      const auto found = collections_.find(collected.id);
      if (found == collections_.end()) throw Error(ErrorKind::InvalidArgument, "stacks without a request");
      const OnStacks on_stacks = std::move(found->second);
      collections_.erase(found);
      return on_stacks(std::move(collected));
    }
    case Kind::Spawned:
    case Kind::RankStarted:
    case Kind::ProgramBegan:
    case Kind::ConfirmInput:
    case Kind::FromRank:
    case Kind::ConnectionLost:
    case Kind::StrayChild:
    case Kind::RankEnded:
    case Kind::SpawnFailed:
    case Kind::Output:
    case Kind::State:
    case Kind::Captured:
    case Kind::Inspected:
    case Kind::Swept:
    case Kind::TracePart:
      // A world that has been destroyed may still be spoken of.
      if (const auto part = find(frame)) part->take(number_, frame);
      return;
    default: throw Error(ErrorKind::InvalidArgument, "a node must not send this kind of frame");
  }
}

void RemoteNode::lose(const std::string& why) {
  if (!lost_.empty()) return;
  lost_ = host_ + " was lost: " + why;
  fail(listings_, lost_);
  fail(preparations_, lost_);
  if (closing_ && !closing_->is_set()) closing_->set({});
  for (auto& [id, on_stacks] : std::exchange(collections_, {})) on_stacks({});
  for (const auto& [number, weak] : std::map(worlds_)) {
    if (const auto part = weak.lock()) part->lose(number_, lost_);
  }
}

}  // namespace distrun::nodes
