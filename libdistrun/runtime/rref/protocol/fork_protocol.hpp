#pragma once
// Who holds references, and when a value may go: the state machine of one worker. It has no threads, no clock and sends
// nothing; whoever drives it gives it what happens and carries out the effects. The tests drive it through every order
// of events of small worlds (tests/model).
//
// A value has an owner. The owner knows the forks of its reference, one for each holder elsewhere: they are a tree, its
// root the owner, an edge from whoever has shared a fork to it.
//
//   remote(), A calls B    A: fork f is pending -- call --> B: owns r, f holds it -- answer --> A: f is confirmed
//   owner B shares with C  B: notes f for C, and sends it ----------------------> C: f is confirmed
//   A shares with C        A: f2 is a child of f -- f2 --> C: f2 is pending -- ForkRequest --> B: notes f2 -- Ack -->
//                          C: f2 is confirmed -- ChildAccept --> A: f has one child less
//   A shares with owner B  A: f2 is a child of f -- f2 --> B: ChildAccept --> A (nobody holds f2)
//   A drops f              when it is confirmed and has no children: UserDelete --> B: forgets f, and the value, if
//                          nobody holds it any more
//
// Two guarantees follow, as long as no worker is lost:
//
//   G1  The owner hears of the end of every fork that it knows, once. A fork ends at its holder when that is confirmed,
//       has no children and was dropped; a UserDelete is sent then, and again until it is acknowledged; its number lets
//       it have its effect once.
//   G2  A fork that ends has no child whose owner does not know of it. A child counts until its ChildAccept, which
//       its holder sends when the owner has acknowledged its ForkRequest.
//
// No value goes early: suppose fork f of r is held, and the owner B has no fork of r left. If B had noted f, only f's
// own UserDelete takes it away, but f is held. So B has not noted f yet: it was shared by a user, its ForkRequest is
// under way, and by G2 its parent has not ended. The parent is held by the count of its child, and is nearer to the
// root. The same holds for it, until a fork that B has noted when it was made: the owner's child, or the creation,
// whose answer is not there yet, so that the owner still waits for it. That contradicts what was supposed. No value
// stays for ever: forks that are dropped end once they are confirmed and their children are, from the leaves to the
// root, and each takes its note away (G1). What was noted for a fork that never arrived is taken back by whoever tried
// to send it (withdraw), by its receiver when he drops a message unread, or with its receiver, when he is lost.
//
// When a worker is lost, all that it held ends with it: the owner forgets its forks, parents their children that were
// on their way to it. Then a ForkRequest may come to an owner that has let go: it remembers the references that have
// died (the last kDeadMax), and says so; the fork fails with that, which is an error, and never a hang.
//
// A creation may be given up (its call has timed out) before the call arrives: its UserDelete comes first, and is kept
// (early): the value goes as soon as it is made.
//
// The owner may have to do with a reference before the call that makes its value has come: others ask it to note their
// forks, or it gets one itself, and shares it. Such a reference is not made yet. When the last fork that it has noted
// goes, whether it was dropped or its holder is lost, it is forgotten rather than released: its creation is held, and
// yet to be noted.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <distrun/common/base/recent.hpp>
#include <distrun/runtime/rref/protocol/numbered.hpp>

namespace distrun::rref {

// What is to be done, in this order.
struct Effects {
  struct Failed {
    ForkId fork;
    std::string why;
  };
  struct Uncreated {
    RRefId rref;
    std::string why;
  };
  std::vector<std::pair<WorkerId, ForkMessage>> sends;
  std::vector<ForkId> confirmed;     // forks that are held here
  std::vector<Failed> failed;        // can't be used any more
  std::vector<RRefId> released;      // owned here, and held by nobody elsewhere any more
  std::vector<Uncreated> uncreated;  // will never be made, though others wait for it here
};

struct ForkCounts {
  std::size_t owned = 0;          // references that others hold, or will
  std::size_t forks = 0;          // of these
  std::size_t users = 0;          // forks held here
  std::size_t pending_users = 0;  // of these, not confirmed
  std::size_t children = 0;       // under way from here
  std::size_t unacknowledged = 0;
  std::size_t early = 0;  // creations that were given up before their call has come
  bool is_settled() const noexcept { return pending_users == 0 && children == 0 && unacknowledged == 0; }
};

// One thread at a time.
class ForkProtocol {
 public:
  explicit ForkProtocol(WorkerId self, std::int64_t first_id = 0) : self_(self), next_id_(first_id) {}

  RRefId next_rref() { return {self_, next_id_++}; }
  ForkId next_fork() { return {self_, next_id_++}; }

  // A call goes to `owner` that makes r there: its fork is held here, pending.
  void begin_creation(RRefId r, ForkId f, WorkerId owner);
  // Its answer is there.
  void confirm_creation(ForkId f);
  // It has not come in time: the value may be there, or not.
  void give_up_creation(ForkId f);
  // It was not sent.
  void forget_creation(ForkId f);

  // The call has arrived at the owner. False: one for that reference has come before.
  bool create(RRefId r, ForkId f, WorkerId from);

  // A new fork of what is owned here, or of a fork that is held here (it must be), on its way to `to`. `is_made`: the
  // value is known to be there, so that nothing need be remembered of it.
  Fork share_owned(RRefId r, WorkerId to, bool is_made = false);
  Fork share_held(ForkId held, WorkerId to);
  // It was not sent.
  void withdraw(const Fork& fork);

  enum class Arrival : std::uint8_t {
    Owned,  // it is owned here
    Held,   // as a new fork
    Again,  // as one that is held already
  };
  // `why_lost`: its owner is gone, though another worker may have its id; empty: it is not.
  Arrival arrive(const Fork& fork, const std::string& why_lost = "");

  // Nobody uses the fork here any more.
  void drop(ForkId f);
  // All at once, whoever uses them: for the end of a session.
  std::vector<ForkId> drop_all();

  void receive(WorkerId from, const ForkMessage& message);
  void lose(WorkerId peer, const std::string& why);
  // One has taken the place of a worker that was lost. So has one of which something is received, or created, then.
  void meet(WorkerId peer) { lost_.erase(peer); }

  Effects take_effects();

  ForkCounts counts() const;
  std::size_t owned_count() const noexcept { return owned_.size(); }
  bool is_held(ForkId f) const { return users_.count(f) != 0; }
  bool is_confirmed(ForkId f) const;  // and held
  bool is_owned(RRefId r) const { return owned_.count(r) != 0; }
  // What has become of a value that somebody asks for here. Empty: it is there, or will be.
  std::string why_gone(RRefId r) const;
  // Who holds it: forks by worker. Nothing: it is not owned here, or by nobody held.
  std::map<ForkId, WorkerId> holders_of(RRefId r) const;
  bool is_noted(RRefId r, ForkId f) const;
  std::vector<RRefId> owned() const;
  // Forks that are under way from here: to whom.
  std::map<ForkId, WorkerId> children() const;
  // Of those, the forks that they were made of.
  std::multimap<ForkId, ForkId> parents_of_children() const;
  // Messages that are not acknowledged yet.
  const std::map<WorkerId, Outbox>& outboxes() const noexcept { return outboxes_; }
  const std::map<WorkerId, Inbox>& inboxes() const noexcept { return inboxes_; }
  // All of it, in an order that depends on nothing else: for tests, and to look at.
  std::string text() const;
  // What of it contradicts the rest, for tests. Empty: nothing.
  std::string contradiction() const;

 private:
  static constexpr std::size_t kDeadMax = 65'536;
  static constexpr std::size_t kEarlyMax = 65'536;

  // A fork that is held here.
  struct User {
    RRefId rref;
    WorkerId owner = -1;
    WorkerId parent = -1;
    bool is_creation = false;
    bool is_confirmed = false;
    bool is_dropped = false;
    int children = 0;
  };
  // A fork that is under way from here.
  struct Child {
    ForkId parent;  // held here
    WorkerId to = -1;
  };
  struct Owned {
    std::map<ForkId, WorkerId> forks;
    bool is_created = false;
  };

  using OwnedMap = std::unordered_map<RRefId, Owned, HashId>;

  // It has sent something: another of its id, if it was lost.
  void send(WorkerId to, ForkMessage message);
  void accept_fork(WorkerId from, const ForkMessage& request);
  void delete_fork(WorkerId from, const ForkMessage& message);
  void remove_fork(OwnedMap::iterator owned, ForkId f);
  void end_owned(OwnedMap::iterator owned);
  void release(OwnedMap::iterator owned);
  void acknowledge(WorkerId from, const ForkMessage& ack);
  void end_request(ForkId f, const std::string& why);
  void accept_child(ForkId f);
  void end_if_over(ForkId f);
  void lose_owned(WorkerId peer, const std::string& why);
  void lose_users(WorkerId peer, const std::string& why);
  void lose_children(WorkerId peer);
  void bury(RRefId r);

  const WorkerId self_;
  std::int64_t next_id_;
  OwnedMap owned_;
  std::unordered_map<ForkId, User, HashId> users_;
  std::unordered_map<ForkId, Child, HashId> children_;
  base::Recent<RRefId, HashId> dead_{kDeadMax};    // made by others
  base::Recent<ForkId, HashId> early_{kEarlyMax};  // deleted before they were created
  std::map<WorkerId, std::string> lost_;
  std::map<WorkerId, Outbox> outboxes_;
  std::map<WorkerId, Inbox> inboxes_;
  Effects effects_;
};

}  // namespace distrun::rref
