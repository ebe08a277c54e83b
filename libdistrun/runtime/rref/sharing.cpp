// The ReferenceService of calls: references in messages.
#include <iterator>
#include <new>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rref/references.hpp>

namespace distrun::rref {
namespace {

constexpr std::size_t kSiteMax = 256;

void refuse_unless(bool is_right, const WorkerInfo& from, const char* what) {
  if (is_right) return;
  throw Error(ErrorKind::InvalidArgument, "a message of " + from.name() + " has an invalid reference: " + what);
}

}  // namespace

wire::Bytes References::share(const rpc::Reference& reference, WorkerKey to) {
  const auto* const handle = dynamic_cast<const Handle*>(&reference);
  if (handle == nullptr || handle->keeper_.get() != this) {
    throw Error(ErrorKind::InvalidArgument, reference.text() + " belongs to another session, which has ended");
  }
  return wire::encode(change([&] {
    handle->check_shared();  // the loss of its owner may just have been recorded, so this is checked under the lock
    refuse_past(worker(to));
    Fork fork;
    if (handle->is_owner()) {
      values_.insert_or_assign(handle->rref_, handle->value_);
      fork = protocol_.share_owned(handle->rref_, to.id, handle->value_->future.done());
    } else {
      fork = protocol_.share_held(handle->fork_, to.id);
    }
    fork.owner_incarnation = handle->owner().incarnation();
    return fork;
  }));
}

void References::withdraw(const wire::Bytes& fork, WorkerKey) noexcept {
  change_if_memory([&] { protocol_.withdraw(wire::decode<Fork>(wire::view_of(fork))); });
}

// Handles a fork that has returned to its owner. If its value is lost, uses of the value fail, not the message.
std::shared_ptr<OwnedValue> References::own_value(RRefId r) {
  try {
    return asked_value(r);
  } catch (const Error& why) {
    auto value = std::make_shared<OwnedValue>(r, "");
    Sink(value).fail(why);
    return value;
  }
}

rpc::ReferencePtr References::receive(const WorkerInfo& from, const wire::Bytes& bytes) {
  const auto fork = wire::decode<Fork>(wire::view_of(bytes));
  refuse_unless(fork.parent == from.id(), from, "it does not belong to that worker");
  refuse_unless(fork.owner >= 0 && fork.rref.local_id >= 0 && fork.fork.local_id >= 0, from, "its ids are invalid");
  const WorkerKey owner_key(fork.owner, fork.owner_incarnation);
  const WorkerInfo owner = worker(owner_key);
  // Not made under the lock, which a handle's end takes.
  const HandlePtr made = make_handle(owner, fork.rref);
  made->site_ = "shared by " + from.name();
  return change([&]() -> HandlePtr {
    refuse_past(from);
    const bool is_lost = is_past(owner_key) || (fork.owner == self_.id() && !self_.key().matches(owner_key));
    const std::string why = is_lost ? "its owner, " + owner.name() + ", has left" : "";
    if (fork.owner == self_.id() && !is_lost) {
      made->value_ = own_value(fork.rref);
      protocol_.arrive(fork);
      return made;
    }
    made->fork_ = fork.fork;
    const auto [user, is_new] = users_.try_emplace(fork.fork, made.get());
    const ForkProtocol::Arrival arrival = protocol_.arrive(fork, why);
    if (!is_new && arrival == ForkProtocol::Arrival::Again) {
      if (auto handle = std::static_pointer_cast<Handle>(user->second->weak_from_this().lock())) return handle;
    }
    user->second = made.get();
    made->state_.store(protocol_.is_confirmed(fork.fork) ? Handle::State::Confirmed : Handle::State::Pending);
    return made;
  });
}

void References::wait_confirmed(const std::vector<rpc::ReferencePtr>& references, base::TimePoint deadline) {
  const auto pending = [&]() -> const Handle* {
    for (const auto& each : references) {
      const auto* const handle = static_cast<const Handle*>(each.get());
      if (!handle->is_owner() && handle->state() == Handle::State::Pending) return handle;
    }
    return nullptr;
  };
  board::WaitInfo info;
  info.kind = board::WaitKind::RrefConfirmation;
  core::WaitEnd end = core::WaitEnd::Ready;
  {
    std::unique_lock lock(mutex_);
    const Handle* const first = pending();
    if (first == nullptr) return;
    const std::string text = first->text();
    info.name = text;
    info.rule = board::PeerRule::All;
    info.peers.add(first->owner().id());
    info.id = static_cast<std::uint64_t>(first->fork().local_id);
    ++waiting_;
    end = core::wait_for_peers(info, lock, changed_, deadline, [&] { return pending() == nullptr || is_closed_; });
    --waiting_;
  }
  const Handle* const left = pending();
  if (left == nullptr) return;
  const std::string what = left->text() + " to be confirmed by its owner, " + rpc::to_string(left->owner());
  if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("waiting for " + what);
  if (end == core::WaitEnd::Ready) throw Error(ErrorKind::Disconnected, "RPC was shut down while waiting for " + what);
  throw Error(ErrorKind::Timeout, "RuntimeError", "RPCErr:1:RPC ran for more than set timeout: waiting for " + what);
}

std::shared_ptr<rpc::ResultSink> References::begin_result(const WorkerInfo& from, const wire::Bytes& section) {
  OwnedSection asked;
  const auto is_own_of_sender = [&] {
    return asked.rref.created_on == from.id() && asked.fork.created_on == from.id() && asked.rref.local_id >= 0;
  };
  try {
    wire::Decoder decoder(wire::view_of(section));  // into `asked`: the ids need no memory, its site does
    decoder(asked);
    decoder.expect_end();
    refuse_unless(is_own_of_sender(), from, "it belongs to another worker");
    refuse_unless(asked.site.size() <= kSiteMax, from, "its site is too long");
    return change([&]() -> std::shared_ptr<rpc::ResultSink> {
      refuse_past(from);
      const bool is_own = from.id() == self_.id();
      std::shared_ptr<OwnedValue> value = is_own ? value_of(asked.rref, asked.site) : own_created(asked, from.id());
      if (!protocol_.is_owned(asked.rref)) values_.erase(asked.rref);  // given up before the call has arrived
      return std::make_shared<Sink>(std::move(value));
    });
  } catch (const std::bad_alloc&) {
    if (is_own_of_sender()) fail_unmade(asked);
    throw;
  }
}

// Requests of a value overtake the error of the call that should have made it.
void References::fail_unmade(const OwnedSection& asked) noexcept {
  base::if_memory([&] {
    std::shared_ptr<OwnedValue> value;
    {
      const std::lock_guard lock(mutex_);
      value = value_of(asked.rref, asked.site);
    }
    Sink(value).fail(base::out_of_memory(ErrorKind::Failed));
  });
}

void References::receive_message(const WorkerInfo& from, const wire::Bytes& bytes) {
  const auto message = wire::decode<ForkMessage>(wire::view_of(bytes));
  refuse_unless(message.kind >= ForkMessageKind::ForkRequest && message.kind <= ForkMessageKind::Ack, from,
                "unknown kind of message");
  Work work;
  {
    const std::lock_guard lock(mutex_);
    if (is_past(from.key())) return;
    protocol_.receive(from.id(), message);
    apply(work);
  }
  release_elsewhere(work);
  perform(std::move(work));
}

void References::lose(const WorkerInfo& peer, const Error& why) noexcept {
  base::if_memory([&] { lose_or_throw(peer, why); }, [&] { miss(peer.key(), why.because_of()); });
}

void References::miss(WorkerKey peer, int because_of) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (missed_count_ < missed_.size()) missed_[missed_count_++] = {peer, because_of};
  }
  perform({});
}

void References::lose_missed() noexcept {
  std::array<Missed, std::tuple_size_v<decltype(missed_)>> missed;
  std::size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    missed = missed_;
    count = std::exchange(missed_count_, 0);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Missed& each = missed[i];
    base::if_memory(
        [&] {
          lose_or_throw(worker(each.peer), Error(ErrorKind::Disconnected, "it was lost").with_cause(each.because_of));
        },
        [&] { miss(each.peer, each.because_of); });
  }
}

// If it throws std::bad_alloc, it may be repeated.
void References::lose_or_throw(const WorkerInfo& peer, const Error& why) {
  const std::string text = peer.name() + " is gone: " + why.text();
  Work work;
  {
    const std::lock_guard lock(mutex_);
    if (is_past(peer.key())) return;
    ranks_lost_.emplace(peer.id(), why.because_of());
    protocol_.lose(peer.id(), text);
    apply(work);
    // values that were asked for, and will never be created
    for (auto value = values_.begin(); value != values_.end();) {
      const bool is_asked = value->first.created_on == peer.id() && !protocol_.is_owned(value->first);
      if (is_asked) work.failed.emplace_back(value->second, lost(value->first, text, why.because_of()));
      value = is_asked ? values_.erase(value) : std::next(value);
    }
  }
  release_elsewhere(work);
  perform(std::move(work));
}

void References::meet(const WorkerInfo& peer) {
  WorkerKey before;
  {
    const std::lock_guard lock(mutex_);
    before = key_of(peer.id());
  }
  if (!peer.key().matches(before)) lose(WorkerInfo(peer.name(), before), Error(ErrorKind::Disconnected, "it has left"));
  change([&] {
    met_[peer.id()] = peer.incarnation();
    ranks_lost_.erase(peer.id());
    protocol_.meet(peer.id());
  });
}

}  // namespace distrun::rref
