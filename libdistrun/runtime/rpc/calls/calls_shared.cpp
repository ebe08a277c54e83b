#include <distrun/runtime/rpc/calls/calls_shared.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>

namespace distrun::rpc {
namespace {

std::shared_ptr<DeviceCarrier> make_carrier(const std::shared_ptr<Agent>& agent, core::RankState& rank) {
  const auto tell = [agent](WorkerKey to, wire::Bytes bytes) {
    Message message;
    message.kind = MessageKind::Devices;
    message.payload = std::move(bytes);
    agent->send(to, std::move(message), Urgency::Later);
  };
  const auto post = [&rank](std::function<void()> body) {
    future::handler_pool_of(rank).post_control(task_of(std::move(body)));
  };
  return DeviceCarrier::make({agent->worker_info(), agent->is_by_hand(), post, tell});
}

}  // namespace

CallsShared::CallsShared(CallsOwner& owner_, std::shared_ptr<Agent> agent_, core::RankState& rank_)
    : owner(owner_), agent(std::move(agent_)), rank(rank_), workers(agent), devices(make_carrier(agent, rank)) {}

core::ThreadState CallsShared::own_state() const {
  core::ThreadState state;
  state.rank = &rank;
  return state;
}

const DeviceMap& CallsShared::device_map_for(const WorkerInfo& worker) const {
  static const DeviceMap none;
  const auto found = device_maps.find(worker.name());
  return found == device_maps.end() ? none : found->second;
}

PendingCall::Kept CallsShared::depart(const Departure& departure, bool is_kept, Message& message) {
  if (autograd == nullptr) return {};
  if (departure.tensors.empty() && (departure.context == kNoContext || !is_kept)) return {};
  std::optional<Departed> departed = autograd->depart(departure);
  if (!departed) return {};
  message.sections.push_back(std::move(departed->section));
  return {departed->context, departed->message};
}

void CallsShared::withdraw(const PendingCall::Kept& kept) noexcept {
  if (kept.message >= 0) autograd->withdraw(kept.context, kept.message);
}

void CallsShared::give_up(WorkerKey peer, const char* what, const Error& why) noexcept {
  const auto text = [&] {
    return Error(ErrorKind::Disconnected, self().name() + " has ended the connection, because " + what + " " +
                                              workers.name_of(peer) + " can't be taken or answered: " + why.what());
  };
  agent->give_up(peer, base::if_memory(text, [] { return base::out_of_memory(ErrorKind::Disconnected); }));
}

}  // namespace distrun::rpc
