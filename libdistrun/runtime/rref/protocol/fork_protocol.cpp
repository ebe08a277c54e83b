#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::rref {
namespace {

constexpr std::size_t kLostTold = 4;  // named workers that may have held a value without holders

}  // namespace

void ForkProtocol::send(WorkerId to, ForkMessage message) {
  if (lost_.count(to) != 0) return;
  effects_.sends.emplace_back(to, outboxes_[to].add(std::move(message)));
}

Effects ForkProtocol::take_effects() { return std::exchange(effects_, {}); }

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
  user->second.is_confirmed = true;
  effects_.confirmed.push_back(f);
  end_if_over(f);
}

// When it is dropped, its end is sent to the owner even if the owner does not know it.
void ForkProtocol::give_up_creation(ForkId f) {
  const auto user = users_.find(f);
  if (user == users_.end()) return;
  user->second.is_confirmed = true;
  end_if_over(f);
}

void ForkProtocol::forget_creation(ForkId f) { users_.erase(f); }

bool ForkProtocol::create(RRefId r, ForkId f, WorkerId from) {
  meet(from);
  const auto owned = owned_.try_emplace(r).first;
  if (std::exchange(owned->second.is_created, true)) return false;
  dead_.erase(r);
  if (!early_.erase(f)) owned->second.forks.emplace(f, from);
  if (owned->second.forks.empty()) release(owned);
  return true;
}

Fork ForkProtocol::share_owned(RRefId r, WorkerId to, bool is_made) {
  const ForkId f = next_fork();
  const auto [owned, is_new] = owned_.try_emplace(r);
  // A fork that has returned to its owner may refer to a value that is not created yet.
  if (is_new) owned->second.is_created = r.created_on == self_ || dead_.erase(r) || lost_.count(r.created_on) != 0;
  if (is_new && is_made) owned->second.is_created = true;
  owned->second.forks.emplace(f, to);
  return {r, f, self_, self_};
}

Fork ForkProtocol::share_held(ForkId held, WorkerId to) {
  const auto user = users_.find(held);
  if (user == users_.end()) {
    throw Error(ErrorKind::InvalidArgument, "ForkId = " + to_string(held) + " is no longer held here");
  }
  const ForkId f = next_fork();
  children_.emplace(f, Child{held, to});
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
  users_.emplace(fork.fork, user);
  const auto lost = lost_.find(fork.owner);
  if (!why_lost.empty()) {
    end_request(fork.fork, why_lost);
  } else if (lost != lost_.end()) {
    end_request(fork.fork, lost->second);
  } else if (!user.is_confirmed) {
    send(fork.owner, {ForkMessageKind::ForkRequest, 0, fork.rref, fork.fork, {}});
  }
  return Arrival::Held;
}

void ForkProtocol::drop(ForkId f) {
  const auto user = users_.find(f);
  if (user == users_.end()) return;
  user->second.is_dropped = true;
  end_if_over(f);
}

std::vector<ForkId> ForkProtocol::drop_all() {
  std::vector<ForkId> all;
  for (auto& [f, user] : users_) all.push_back(f);
  std::sort(all.begin(), all.end());
  for (const ForkId& f : all) {
    User& user = users_.at(f);
    user.is_dropped = true;
    if (!user.is_confirmed) continue;
    user.children = 0;  // the wait for them has lasted long enough
    end_if_over(f);
  }
  return all;
}

void ForkProtocol::end_if_over(ForkId f) {
  const auto user = users_.find(f);
  if (user == users_.end()) return;
  const User& over = user->second;
  if (!over.is_dropped || !over.is_confirmed || over.children != 0) return;
  send(over.owner, {ForkMessageKind::UserDelete, 0, over.rref, f, {}});
  users_.erase(user);
}

void ForkProtocol::receive(WorkerId from, const ForkMessage& message) {
  meet(from);
  if (message.kind == ForkMessageKind::Ack) return acknowledge(from, message);
  Inbox& inbox = inboxes_[from];
  if (!inbox.has(message.number)) {
    switch (message.kind) {
      case ForkMessageKind::ForkRequest: accept_fork(from, message); break;
      case ForkMessageKind::ChildAccept: accept_child(message.fork); break;
      case ForkMessageKind::UserDelete: delete_fork(from, message); break;
      case ForkMessageKind::Ack: break;
    }
    inbox.add(message.number);  // last: what finds no memory comes again, and may be handled twice
  }
  ForkMessage ack{ForkMessageKind::Ack, message.number, {}, {}, {}};
  if (message.kind == ForkMessageKind::ForkRequest) {
    ack.fork = message.fork;
    ack.why = why_gone(message.rref);
  }
  effects_.sends.emplace_back(from, std::move(ack));
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
  if (why_gone(request.rref).empty()) owned_[request.rref].forks.emplace(request.fork, from);
}

// A worker cannot end a fork that another one holds.
void ForkProtocol::delete_fork(WorkerId from, const ForkMessage& message) {
  const auto owned = owned_.find(message.rref);
  if (owned != owned_.end()) {
    const auto fork = owned->second.forks.find(message.fork);
    const bool is_noted = fork != owned->second.forks.end();
    if (is_noted && fork->second == from) remove_fork(owned, message.fork);
    if (is_noted) return;
  }
  const bool is_made = owned != owned_.end() ? owned->second.is_created : dead_.contains(message.rref);
  if (!is_made && message.fork.created_on == message.rref.created_on) early_.add(message.fork);
}

void ForkProtocol::remove_fork(OwnedMap::iterator owned, ForkId f) {
  owned->second.forks.erase(f);
  if (owned->second.forks.empty()) end_owned(owned);
}

void ForkProtocol::end_owned(OwnedMap::iterator owned) {
  if (owned->second.is_created) return release(owned);
  owned_.erase(owned);  // the creating call has yet to arrive
}

void ForkProtocol::release(OwnedMap::iterator owned) {
  effects_.released.push_back(owned->first);
  bury(owned->first);
  owned_.erase(owned);
}

void ForkProtocol::bury(RRefId r) {
  if (r.created_on != self_) dead_.add(r);  // not needed for locally created references: those not in owned_ are dead
}

void ForkProtocol::acknowledge(WorkerId from, const ForkMessage& ack) {
  const auto outbox = outboxes_.find(from);
  if (outbox == outboxes_.end()) return;
  const ForkMessage message = outbox->second.take(ack.number);
  if (message.kind == ForkMessageKind::ForkRequest) end_request(message.fork, ack.why);
}

// The owner has noted the fork, or never will, so its parent need not wait for that any longer.
void ForkProtocol::end_request(ForkId f, const std::string& why) {
  const auto user = users_.find(f);
  if (user == users_.end()) return;
  const WorkerId parent = user->second.parent;
  const RRefId r = user->second.rref;
  user->second.is_confirmed = true;
  if (why.empty()) {
    effects_.confirmed.push_back(f);
    end_if_over(f);
  } else {
    effects_.failed.push_back({f, why});
    users_.erase(user);
  }
  if (parent == self_) return accept_child(f);
  send(parent, {ForkMessageKind::ChildAccept, 0, r, f, {}});
}

void ForkProtocol::accept_child(ForkId f) {
  const auto child = children_.find(f);
  if (child == children_.end()) return;
  const ForkId parent = child->second.parent;
  children_.erase(child);
  const auto user = users_.find(parent);
  if (user == users_.end()) return;
  user->second.children = std::max(user->second.children - 1, 0);
  end_if_over(parent);
}

void ForkProtocol::lose(WorkerId peer, const std::string& why) {
  lost_[peer] = why;
  outboxes_.erase(peer);
  inboxes_.erase(peer);
  lose_owned(peer, why);
  lose_users(peer, why);
  lose_children(peer);
  const auto is_made_there = [peer](const auto& id) { return id.created_on == peer; };
  early_.erase_if(is_made_there);
  dead_.erase_if(is_made_there);
}

void ForkProtocol::lose_owned(WorkerId peer, const std::string& why) {
  std::vector<RRefId> empty;
  for (auto& [r, owned] : owned_) {
    std::erase_if(owned.forks, [&](const auto& each) { return each.second == peer; });
    if (!owned.is_created && r.created_on == peer) {
      owned.is_created = true;
      effects_.uncreated.push_back({r, why});
    }
    if (owned.forks.empty()) empty.push_back(r);
  }
  std::sort(empty.begin(), empty.end());
  for (const RRefId& r : empty) end_owned(owned_.find(r));
}

void ForkProtocol::lose_users(WorkerId peer, const std::string& why) {
  std::vector<ForkId> gone;
  for (const auto& [f, user] : users_) {
    if (user.owner == peer) gone.push_back(f);
  }
  std::sort(gone.begin(), gone.end());
  for (const ForkId& f : gone) {
    const auto user = users_.find(f);
    if (user == users_.end()) continue;  // already ended, together with a child that this worker had shared with itself
    if (!user->second.is_creation && !user->second.is_confirmed) {
      end_request(f, why);
    } else {
      effects_.failed.push_back({f, why});
      users_.erase(user);
    }
  }
}

void ForkProtocol::lose_children(WorkerId peer) {
  std::vector<ForkId> gone;
  for (const auto& [f, child] : children_) {
    if (child.to == peer) gone.push_back(f);
  }
  std::sort(gone.begin(), gone.end());
  for (const ForkId& f : gone) accept_child(f);
}

}  // namespace distrun::rref
