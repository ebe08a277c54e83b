#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::rref {
namespace {

constexpr std::size_t kLostTold = 4;  // named workers that may have held a value without holders

template <class Each>
void reserve(std::vector<Each>& list, std::size_t more) {
  const std::size_t all = list.size() + more;
  if (list.capacity() < all) list.reserve(std::max(all, 2 * list.capacity()));
}

template <class Each>
Each take_last(std::vector<Each>& list) {
  Each last = std::move(list.back());
  list.pop_back();
  return last;
}

std::map<WorkerId, Outbox>::node_type make_outbox() {
  std::map<WorkerId, Outbox> one;
  one.try_emplace(0);
  return one.extract(one.begin());
}

}  // namespace

void ForkProtocol::make_room(const Room& room) {
  reserve(effects_.sends, room.sends);
  reserve(effects_.confirmed, room.confirmed);
  reserve(effects_.failed, room.failed);
  reserve(effects_.released, room.released);
  reserve(effects_.uncreated, room.uncreated);
  while (spare_.places.size() < room.sends) spare_.places.push_back(Outbox::make_place());
  while (spare_.outboxes.size() < room.sends) spare_.outboxes.push_back(make_outbox());
}

// Room was made for it.
void ForkProtocol::send(WorkerId to, ForkMessage message) noexcept {
  if (lost_.count(to) != 0) return;
  auto outbox = outboxes_.find(to);
  if (outbox == outboxes_.end()) {
    auto made = take_last(spare_.outboxes);
    made.key() = to;
    outbox = outboxes_.insert(std::move(made)).position;
  }
  effects_.sends.emplace_back(to, outbox->second.add(std::move(message), take_last(spare_.places)));
}

Effects ForkProtocol::take_effects() noexcept { return std::exchange(effects_, {}); }

void ForkProtocol::begin_creation(RRefId r, ForkId f, WorkerId owner) {
  User user;
  user.rref = r;
  user.owner = owner;
  user.is_creation = true;
  users_.emplace(f, user);
}

void ForkProtocol::confirm_creation(ForkId f) {
  const auto user = users_.find(f);
  if (user == users_.end() || user->second.is_confirmed) return;
  make_room({.sends = 1, .confirmed = 1});
  user->second.is_confirmed = true;
  effects_.confirmed.push_back(f);
  end_if_over(f);
}

// When it is dropped, its end is sent to the owner even if the owner does not know it.
void ForkProtocol::give_up_creation(ForkId f) {
  const auto user = users_.find(f);
  if (user == users_.end()) return;
  make_room({.sends = 1});
  user->second.is_confirmed = true;
  end_if_over(f);
}

void ForkProtocol::forget_creation(ForkId f) { users_.erase(f); }

bool ForkProtocol::create(RRefId r, ForkId f, WorkerId from) {
  meet(from);
  const auto known = owned_.find(r);
  if (known != owned_.end() && known->second.is_created) return false;
  if (!early_.contains(f)) {
    note(r, f, from).first->second.is_created = true;
    dead_.erase(r);
  } else if (known != owned_.end()) {
    known->second.is_created = true;
    early_.erase(f);
  } else {
    make_room({.released = 1});
    bury(r);
    early_.erase(f);
    effects_.released.push_back(r);
  }
  return true;
}

// Returns what try_emplace() of the reference returns.
std::pair<ForkProtocol::OwnedMap::iterator, bool> ForkProtocol::note(RRefId r, ForkId f, WorkerId holder) {
  const auto [owned, is_new] = owned_.try_emplace(r);
  try {
    owned->second.forks.emplace(f, holder);
  } catch (...) {
    if (is_new) owned_.erase(owned);
    throw;
  }
  return {owned, is_new};
}

Fork ForkProtocol::share_owned(RRefId r, WorkerId to, bool is_made) {
  const ForkId f{self_, next_id_};
  const auto [owned, is_new] = note(r, f, to);
  ++next_id_;
  // A fork that has returned to its owner may refer to a value that is not created yet.
  if (is_new) owned->second.is_created = r.created_on == self_ || dead_.erase(r) || lost_.count(r.created_on) != 0;
  if (is_new && is_made) owned->second.is_created = true;
  return {r, f, self_, self_};
}

Fork ForkProtocol::share_held(ForkId held, WorkerId to) {
  const auto user = users_.find(held);
  if (user == users_.end()) {
    throw Error(ErrorKind::InvalidArgument, "ForkId = " + to_string(held) + " is no longer held here");
  }
  const ForkId f{self_, next_id_};
  children_.emplace(f, Child{held, to});
  ++next_id_;
  ++user->second.children;
  return {user->second.rref, f, user->second.owner, self_};
}

void ForkProtocol::withdraw(const Fork& fork) {
  if (fork.owner != self_) return accept_child(fork.fork);
  const auto owned = owned_.find(fork.rref);
  if (owned != owned_.end()) remove_fork(owned, fork.fork);
}

ForkProtocol::Arrival ForkProtocol::arrive(const Fork& fork, const std::string& why_lost) {
  if (fork.owner == self_ && why_lost.empty()) {
    if (fork.parent == self_) {
      withdraw(fork);
    } else {
      make_room({.sends = 1});
      send(fork.parent, {ForkMessageKind::ChildAccept, 0, fork.rref, fork.fork, {}});
    }
    return Arrival::Owned;
  }
  const auto known = users_.find(fork.fork);
  if (known != users_.end()) {
    known->second.is_dropped = false;
    return Arrival::Again;
  }
  User user;
  user.rref = fork.rref;
  user.owner = fork.owner;
  user.parent = fork.parent;
  user.is_confirmed = fork.parent == fork.owner;
  const auto lost = lost_.find(fork.owner);
  std::string why = !why_lost.empty() || lost == lost_.end() ? why_lost : lost->second;
  make_room({.sends = 2, .failed = 1});
  users_.emplace(fork.fork, user);
  if (!why_lost.empty() || lost != lost_.end()) {
    end_request(fork.fork, std::move(why));
  } else if (!user.is_confirmed) {
    send(fork.owner, {ForkMessageKind::ForkRequest, 0, fork.rref, fork.fork, {}});
  }
  return Arrival::Held;
}

void ForkProtocol::drop(ForkId f) {
  const auto user = users_.find(f);
  if (user == users_.end()) return;
  make_room({.sends = 1});
  user->second.is_dropped = true;
  end_if_over(f);
}

std::vector<ForkId> ForkProtocol::drop_all() {
  std::vector<ForkId> all;
  for (auto& [f, user] : users_) all.push_back(f);
  std::sort(all.begin(), all.end());
  make_room({.sends = all.size()});
  for (const ForkId& f : all) {
    User& user = users_.at(f);
    user.is_dropped = true;
    if (!user.is_confirmed) continue;
    user.children = 0;  // the wait for them has lasted long enough
    end_if_over(f);
  }
  return all;
}

// Room was made for it.
void ForkProtocol::end_if_over(ForkId f) noexcept {
  const auto user = users_.find(f);
  if (user == users_.end()) return;
  const User& over = user->second;
  if (!over.is_dropped || !over.is_confirmed || over.children != 0) return;
  send(over.owner, {ForkMessageKind::UserDelete, 0, over.rref, f, {}});
  users_.erase(user);
}

// A message that finds no memory comes again.
void ForkProtocol::receive(WorkerId from, const ForkMessage& message) {
  meet(from);
  if (message.kind == ForkMessageKind::Ack) return acknowledge(from, message);
  ForkMessage ack{ForkMessageKind::Ack, message.number, {}, {}, {}};
  if (message.kind == ForkMessageKind::ForkRequest) {
    ack.fork = message.fork;
    ack.why = why_gone(message.rref);
  }
  make_room({.sends = 2});
  const auto [found, is_new] = inboxes_.try_emplace(from);
  Inbox& inbox = found->second;
  if (!inbox.has(message.number)) {
    try {
      inbox.begin(message.number);
      handle(from, message);
    } catch (...) {
      inbox.cancel(message.number);
      if (is_new) inboxes_.erase(found);
      throw;
    }
    inbox.end();
  }
  effects_.sends.emplace_back(from, std::move(ack));
}

void ForkProtocol::handle(WorkerId from, const ForkMessage& message) {
  switch (message.kind) {
    case ForkMessageKind::ForkRequest: return accept_fork(from, message);
    case ForkMessageKind::ChildAccept: return accept_child(message.fork);
    case ForkMessageKind::UserDelete: return delete_fork(from, message);
    case ForkMessageKind::Ack: return;
  }
}

std::string ForkProtocol::why_gone(RRefId r) const {
  if (owned_.count(r) != 0) return "";
  if (r.created_on == self_ || dead_.contains(r)) {
    std::string why = "its last holder is gone";
    std::size_t told = 0;
    for (const auto& [worker, text] : lost_) {
      if (told++ < kLostTold) why += (told == 1 ? ": " : "; ") + text;
    }
    return why;
  }
  const auto lost = lost_.find(r.created_on);
  return lost == lost_.end() ? "" : "the worker that should have created it is gone: " + lost->second;
}

void ForkProtocol::accept_fork(WorkerId from, const ForkMessage& request) {
  if (why_gone(request.rref).empty()) note(request.rref, request.fork, from);
}

// A worker cannot end a fork that another one holds.
void ForkProtocol::delete_fork(WorkerId from, const ForkMessage& message) {
  const auto owned = owned_.find(message.rref);
  if (owned != owned_.end()) {
    const auto fork = owned->second.forks.find(message.fork);
    const bool is_noted = fork != owned->second.forks.end();
#ifndef DISTRUN_FUZZ_PLANTED_BUG
    const bool is_holder = is_noted && fork->second == from;
#else
    const bool is_holder = is_noted;
#endif
    if (is_holder) remove_fork(owned, message.fork);
    if (is_noted) return;
  }
  const bool is_made = owned != owned_.end() ? owned->second.is_created : dead_.contains(message.rref);
  if (!is_made && message.fork.created_on == message.rref.created_on) early_.add(message.fork);
}

void ForkProtocol::remove_fork(OwnedMap::iterator owned, ForkId f) {
  std::map<ForkId, WorkerId>& forks = owned->second.forks;
  if (forks.size() == forks.count(f) && owned->second.is_created) {
    make_room({.released = 1});
    bury(owned->first);
  }
  forks.erase(f);
  if (forks.empty()) end_owned(owned);
}

void ForkProtocol::end_owned(OwnedMap::iterator owned) noexcept {
  if (owned->second.is_created) return release(owned);
  owned_.erase(owned);  // the creating call has yet to arrive
}

// It was buried, and room was made for it.
void ForkProtocol::release(OwnedMap::iterator owned) noexcept {
  effects_.released.push_back(owned->first);
  owned_.erase(owned);
}

// Returns whether it is remembered only now. Not needed for locally created references: those not in owned_ are dead.
bool ForkProtocol::bury(RRefId r) {
  if (r.created_on == self_ || dead_.contains(r)) return false;
  dead_.add(r);
  return true;
}

void ForkProtocol::acknowledge(WorkerId from, const ForkMessage& ack) {
  const auto outbox = outboxes_.find(from);
  if (outbox == outboxes_.end()) return;
  const auto message = outbox->second.waiting().find(ack.number);
  if (message == outbox->second.waiting().end()) return;
  if (message->second.kind == ForkMessageKind::ForkRequest) end_request(message->second.fork, ack.why);
  outbox->second.take(ack.number);
}

// The owner has noted the fork, or never will, so its parent need not wait for that any longer.
void ForkProtocol::end_request(ForkId f, std::string why) {
  const auto user = users_.find(f);
  if (user == users_.end()) return;
  make_room({.sends = 2, .confirmed = why.empty() ? 1U : 0U, .failed = why.empty() ? 0U : 1U});
  const WorkerId parent = user->second.parent;
  const RRefId r = user->second.rref;
  user->second.is_confirmed = true;
  if (why.empty()) {
    effects_.confirmed.push_back(f);
    end_if_over(f);
  } else {
    effects_.failed.push_back({f, std::move(why)});
    users_.erase(user);
  }
  if (parent == self_) return accept_child(f);
  send(parent, {ForkMessageKind::ChildAccept, 0, r, f, {}});
}

void ForkProtocol::accept_child(ForkId f) {
  const auto child = children_.find(f);
  if (child == children_.end()) return;
  make_room({.sends = 1});
  const ForkId parent = child->second.parent;
  children_.erase(child);
  const auto user = users_.find(parent);
  if (user == users_.end()) return;
  user->second.children = std::max(user->second.children - 1, 0);
  end_if_over(parent);
}

void ForkProtocol::lose(WorkerId peer, const std::string& why) {
  Loss loss = list_loss(peer, why);
  prepare(loss);
  lost_.erase(peer);
  lost_.insert(std::move(loss.lost));
  outboxes_.erase(peer);
  inboxes_.erase(peer);
  lose_owned(peer, loss);
  lose_users(loss);
  lose_children(loss);
  const auto is_made_there = [peer](const auto& id) { return id.created_on == peer; };
  early_.erase_if(is_made_there);
  dead_.erase_if(is_made_there);
}

void ForkProtocol::lose_owned(WorkerId peer, Loss& loss) noexcept {
  for (auto& [r, owned] : owned_) {
    std::erase_if(owned.forks, [&](const auto& each) { return each.second == peer; });
  }
  for (Effects::Uncreated& each : loss.uncreated) {
    owned_.find(each.rref)->second.is_created = true;
    effects_.uncreated.push_back(std::move(each));
  }
  for (const RRefId& r : loss.empty) {
    if (const auto owned = owned_.find(r); owned->second.forks.empty()) end_owned(owned);
  }
}

void ForkProtocol::lose_users(Loss& loss) noexcept {
  for (Effects::Failed& each : loss.users) {
    const auto user = users_.find(each.fork);
    if (user == users_.end()) continue;  // already ended, together with a child that this worker had shared with itself
    if (!user->second.is_creation && !user->second.is_confirmed) {
      end_request(each.fork, std::move(each.why));
    } else {
      effects_.failed.push_back(std::move(each));
      users_.erase(user);
    }
  }
}

void ForkProtocol::lose_children(const Loss& loss) noexcept {
  for (const ForkId& f : loss.children) accept_child(f);
}

}  // namespace distrun::rref
