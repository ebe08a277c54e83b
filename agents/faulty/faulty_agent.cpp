#include <agents/faulty/faulty_agent.hpp>

#include <algorithm>
#include <utility>

#include <agents/faulty/kinds.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::agents::faulty {
namespace {

// The notice that a connection was cut. Other agents read it as the cancellation of a call that does not exist.
constexpr auto kCutSection = static_cast<rpc::SectionTag>(0xf0);
constexpr std::uint64_t kNoCall = ~std::uint64_t{0};

rpc::Message cut_notice() {
  rpc::Message notice;
  notice.kind = rpc::MessageKind::Cancel;
  notice.id = kNoCall;
  notice.sections.push_back({kCutSection, {}});
  return notice;
}

bool is_cut_notice(const rpc::Message& message) noexcept {
  return message.kind == rpc::MessageKind::Cancel && message.id == kNoCall && message.sections.size() == 1 &&
         message.sections.front().tag == kCutSection;
}

}  // namespace

FaultyAgent::FaultyAgent(std::shared_ptr<rpc::Agent> inner, wire::FaultPlan plan)
    : inner_(std::move(inner)),
      rank_(core::rank_state()),
      fates_(std::move(plan), inner_->worker_info().id()),
      held_(static_cast<DueEvents&>(*this), rank_) {}

std::vector<rpc::WorkerInfo> FaultyAgent::worker_infos() const {
  std::vector<rpc::WorkerInfo> all = inner_->worker_infos();
  for (rpc::WorkerInfo& each : peers_.cut()) {
    if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(std::move(each));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id() < b.id(); });
  return all;
}

void FaultyAgent::add_worker(const rpc::WorkerRecord& record) {
  if (peers_.add(record)) inner_->add_worker(record);
}

void FaultyAgent::remove_worker(rpc::WorkerKey worker) noexcept {
  inner_->remove_worker(worker);
  peers_.remove(worker);
  held_.forget(worker);
}

void FaultyAgent::start(rpc::Receiver& receiver) {
  receiver_ = &receiver;
  inner_->start(static_cast<rpc::Receiver&>(*this));
}

// ---- sending

void FaultyAgent::refuse_cut(rpc::WorkerKey to) const {
  if (!peers_.has_cut()) return;
  const PeerPtr peer = peers_.find(to);
  if (peer != nullptr && peer->is_cut) throw cut_error(peer->record.worker);
}

// The inner agent reports errors for unknown and lost workers.
bool FaultyAgent::is_past_faults(rpc::WorkerKey to) const {
  if (fates_.plan().faults.empty() || is_closed_) return true;
  if (is_own(to)) return false;
  const PeerPtr peer = peers_.find(to);
  return peer == nullptr || peer->is_lost;
}

// A plan may lose, delay or refuse the cancellation that makes the inner agent withdraw a call that has timed out. So a
// call that may time out is sent with copies of its tensors.
void FaultyAgent::send(rpc::WorkerKey to, rpc::Message message, rpc::Urgency urgency) {
  rpc::refuse_forked(mark_, base::Location::here());
  refuse_cut(to);
  if (is_past_faults(to)) return carry(to, std::move(message), urgency);
  if (message.kept_until && !is_own(to)) rpc::copy_tensors(message);
  const std::optional<wire::FaultKind> kind = kind_of(message);
  const Fate fate = kind ? fates_.next(to.id, *kind, message) : fates_.next(to.id);
  if (fate.is_cut) {
    if (peers_.begin_cut(to) != nullptr) held_.cut(to);
    refuse_cut(to);
  }
  if (!kind) return pass(to, kind, std::move(message), urgency, fate);
  strike(to, *kind, std::move(message), urgency, fate);
}

void FaultyAgent::strike(rpc::WorkerKey to, wire::FaultKind kind, rpc::Message message, rpc::Urgency urgency,
                         const Fate& fate) {
  if (fate.fails) fail(to, kind, message);
  if (fate.is_dropped) return done(Done::Dropped, kind, to, message);
  if (fate.corruption) corrupt_message(to, kind, message, *fate.corruption);
  if (fate.is_doubled) {
    Fate first = fate;
    first.behind = 0;
    rpc::Message copy = message;
    if (is_own(to)) rpc::copy_tensors(copy);  // another agent would do that
    done(Done::Duplicated, kind, to, message);
    pass(to, kind, std::move(copy), rpc::Urgency::Later, first);
  }
  pass(to, kind, std::move(message), urgency, fate);
}

void FaultyAgent::fail(rpc::WorkerKey to, wire::FaultKind kind, const rpc::Message& message) {
  done(Done::Failed, kind, to, message);
  throw Error(ErrorKind::Overloaded, "RPCErr:2:Send attempt failed intentionally for " +
                                         std::string(wire::name_of(kind)) + " to " + name_of_worker(to) + ", message " +
                                         std::to_string(message.id));
}

void FaultyAgent::corrupt_message(rpc::WorkerKey to, wire::FaultKind kind, rpc::Message& message, std::uint64_t drawn) {
  const std::optional<Corruption> told = corrupt(message, drawn);
  if (!told) return;
  done(Done::Corrupted, kind, to, message);
  if (told->is_readable) tally_.count(*told->is_readable ? Done::CorruptedWrong : Done::CorruptedUnreadable, kind);
  const std::lock_guard lock(mutex_);
  last_corruption_ = std::string(wire::name_of(kind)) + " to " + name_of_worker(to) + ", message " +
                     std::to_string(message.id) + ": " + describe(*told, message);
}

// Sends at once, or holds the message back. Answers that cannot be held back are sent at once instead of refused, since
// the caller would wait for them in vain.
void FaultyAgent::pass(rpc::WorkerKey to, std::optional<wire::FaultKind> kind, rpc::Message message,
                       rpc::Urgency urgency, const Fate& fate) {
  const bool is_call = message.kind == rpc::MessageKind::Call && message.is_limited;
  const std::uint64_t id = message.id;
  switch (held_.take(to, message, fate)) {
    case Holding::Taken: {
      rpc::Message told;
      told.id = id;
      if (kind && fate.delay.count() > 0) done(Done::Delayed, *kind, to, told);
      if (kind && fate.behind > 0) done(Done::Reordered, *kind, to, told);
      return;
    }
    case Holding::Full:
      if (is_call) throw Error(ErrorKind::Overloaded, "too many messages are held back for " + name_of_worker(to));
      if (kind) tally_.count(Done::SentAtOnce, *kind);
      break;
    case Holding::NotWanted: break;
  }
  forward(to, std::move(message), urgency);
}

void FaultyAgent::carry(rpc::WorkerKey to, rpc::Message message, rpc::Urgency urgency) {
  if (is_own(to)) return receive_own(std::move(message));
  inner_->send(to, std::move(message), urgency);
}

// Takes no lock: a quick function answers before this returns.
void FaultyAgent::receive_own(rpc::Message message) {
  rpc::Receiver* const receiver = receiver_.load(std::memory_order_acquire);
  if (receiver == nullptr) return;
  if (auto task = receiver->receive(worker_info(), std::move(message))) {
    future::handler_pool_of(rank_).post(std::move(task));
  }
}

void FaultyAgent::forward(rpc::WorkerKey to, rpc::Message message, rpc::Urgency urgency) {
  carry(to, std::move(message), urgency);
  for (rpc::Message& each : held_.passed(to)) bring(to, std::move(each));
}

// Errors are not reported to the sender any more: lose() reports a loss, and the timeout of the call covers the rest.
void FaultyAgent::bring(rpc::WorkerKey to, rpc::Message message) noexcept {
  const std::optional<wire::FaultKind> kind = kind_of(message);
  try {
    if (is_closed_ && is_own(to)) throw Error(ErrorKind::Disconnected, "the session is over");
    refuse_cut(to);
    carry(to, std::move(message), rpc::Urgency::Later);
  } catch (const std::exception&) {
    if (kind) tally_.count(Done::LostLater, *kind);
  }
}

void FaultyAgent::done(Done done, wire::FaultKind kind, rpc::WorkerKey to, const rpc::Message& message) noexcept {
  tally_.count(done, kind);
  core::RankLine* const line = rank_.line();
  if (line == nullptr) return;
  base::if_memory([&] {
    const std::string text = std::string("faulty ") + name_of(done) + " " + wire::name_of(kind);
    line->note(board::WaitKind::Send, text, to.id, message.id);
  });
}

std::string FaultyAgent::name_of_worker(rpc::WorkerKey worker) const {
  if (is_own(worker)) return worker_info().name();
  const PeerPtr peer = peers_.find(worker);
  return peer != nullptr ? peer->record.worker.name() : "worker " + std::to_string(worker.id);
}

// ---- receiving

std::unique_ptr<future::HandlerTask> FaultyAgent::receive(const rpc::WorkerInfo& from, rpc::Message message) noexcept {
  rpc::Receiver* const receiver = receiver_.load(std::memory_order_acquire);
  if (receiver == nullptr) return nullptr;
  const PeerPtr peer = peers_.get(from);
  const std::lock_guard lock(peer->receiving);
  if (peer->is_lost) return nullptr;
  if (!is_cut_notice(message)) return receiver->receive(from, std::move(message));
  peers_.mark_cut(*peer);
  tell_loss(*peer, from, cut_error(from));
  return nullptr;
}

void FaultyAgent::lose(const rpc::WorkerInfo& peer, const base::Error& why) noexcept {
  const PeerPtr known = peers_.get(peer);
  const std::lock_guard lock(known->receiving);
  tell_loss(*known, peer, why);
}

void FaultyAgent::tell_loss(Peer& peer, const rpc::WorkerInfo& worker, const base::Error& why) noexcept {
  rpc::Receiver* const receiver = receiver_.load(std::memory_order_acquire);
  if (peer.is_lost.exchange(true) || receiver == nullptr) return;
  held_.forget(worker.key());
  receiver->lose(worker, why);
}

// Sends the notice before it removes the worker: the peer would not notice that the inner agent only forgets it.
void FaultyAgent::carry_out_cut(rpc::WorkerKey to) noexcept {
  const PeerPtr peer = peers_.find(to);
  if (peer == nullptr || !peer->is_cut) return;
  try {
    inner_->send(to, cut_notice(), rpc::Urgency::Later);
  } catch (const std::exception&) {  // the peer is gone without the notice
  }
  inner_->remove_worker(to);
  const std::lock_guard lock(peer->receiving);
  tell_loss(*peer, peer->record.worker, cut_error(peer->record.worker));
}

// ---- closing

void FaultyAgent::close(base::Nanoseconds limit) noexcept {
  if (mark_.is_inherited() || is_closed_.exchange(true)) return;
  held_.close(limit.count() > 0);
  inner_->close(limit);
  receiver_ = nullptr;
}

std::map<std::string, std::string> FaultyAgent::debug_info() const {
  std::map<std::string, std::string> info = inner_->debug_info();
  info["faulty.seed"] = std::to_string(fates_.plan().seed);
  info["faulty.plan"] = fates_.plan().text;
  tally_.add_debug_info(info);
  for (const rpc::WorkerInfo& each : peers_.cut()) info["faulty.cut." + each.name()] = "1";
  const std::lock_guard lock(mutex_);
  if (!last_corruption_.empty()) info["faulty.last_corruption"] = last_corruption_;
  return info;
}

}  // namespace distrun::agents::faulty
