#pragma once
// Decides which workers hold references and when a value may be released: the state machine of one worker. It has no
// threads, no clock and sends nothing; its driver passes events in and carries out the effects. The tests drive it
// through every order of events in small worlds (tests/model).
//
// A value has an owner. The owner notes the forks of its reference, one for each holder on another worker. The forks
// form a tree: the owner is the root, and an edge leads from each fork to the forks that its holder has shared.
//
//   remote(), A calls B    A: fork f is pending -- call --> B: owns r, f holds it -- answer --> A: f is confirmed
//   owner B shares with C  B: notes f for C, and sends it ----------------------> C: f is confirmed
//   A shares with C        A: f2 is a child of f -- f2 --> C: f2 is pending -- ForkRequest --> B: notes f2 -- Ack -->
//                          C: f2 is confirmed -- ChildAccept --> A: f has one child less
//   A shares with owner B  A: f2 is a child of f -- f2 --> B: ChildAccept --> A (f2 has no holder)
//   A drops f              when f is confirmed and has no children: UserDelete --> B: removes f, and releases the value
//                          if no fork is left
//
// Two guarantees follow, provided that no worker is lost:
//
//   G1  The owner learns of the end of every fork that it has noted, exactly once. A fork ends at its holder when it is
//       confirmed, has no children and was dropped. Then a UserDelete is sent, and resent until it is acknowledged; its
//       number ensures that it takes effect once.
//   G2  A fork that ends has no child that is unknown to the owner. A child counts until its ChildAccept, which its
//       holder sends after the owner has acknowledged its ForkRequest.
//
// No value is released early. Suppose that fork f of r is held, but the owner B has no fork of r left. If B had noted
// f, only f's UserDelete could have removed it, but f is held. So B has not noted f yet: a user shared it, its
// ForkRequest is in flight, and by G2 its parent has not ended. The parent is kept by its count of children, and is
// nearer to the root. The same argument applies to the parent, and ends at a fork that B noted when it was created:
// either the owner's child, or the creation, whose answer has not arrived, so that the owner still keeps the value.
// That is a contradiction. No value is kept forever. Dropped forks end once they are confirmed and their children have
// ended, from the leaves to the root, and each removes its note (G1). The note of a fork that never arrived is removed
// by the worker that failed to send it (withdraw), by its receiver if it drops the message unread, or when its receiver
// is lost.
//
// When a worker is lost, all forks that it held end: the owner removes them, and parents remove their children in
// flight to it. A ForkRequest may then reach an owner that has released the value. So the owner remembers dead
// references (the last kDeadMax) and answers with the reason; the fork fails with that error instead of hanging.
//
// A creation may be given up (its call timed out) before the call arrives. Its UserDelete arrives first, and is
// remembered (early): the value is released as soon as it is created.
//
// The owner may have to handle a reference before the creating call has arrived: other workers ask it to note their
// forks, or it receives a fork itself, and shares it. Such a reference is not created yet. When its last noted fork
// ends, whether dropped or lost with its holder, the reference is forgotten rather than released: its creation is still
// held, and has yet to be noted.
//
// A function that finds no memory throws std::bad_alloc, and has changed nothing: it makes room for its effects first.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <distrun/common/base/recent.hpp>
#include <distrun/runtime/rref/protocol/numbered.hpp>

namespace distrun::rref {

// The actions to carry out, in this order.
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
  std::vector<Failed> failed;        // no longer usable
  std::vector<RRefId> released;      // owned here, with no holders left on other workers
  std::vector<Uncreated> uncreated;  // will never be created, though others wait for them here

  bool are_empty() const noexcept {
    return sends.empty() && confirmed.empty() && failed.empty() && released.empty() && uncreated.empty();
  }
};

struct ForkCounts {
  std::size_t owned = 0;          // references that others hold or will hold
  std::size_t forks = 0;          // noted forks of these
  std::size_t users = 0;          // forks held here
  std::size_t pending_users = 0;  // of these, unconfirmed
  std::size_t children = 0;       // in flight from here
  std::size_t unacknowledged = 0;
  std::size_t early = 0;  // creations that were given up before their call has arrived
  bool is_settled() const noexcept { return pending_users == 0 && children == 0 && unacknowledged == 0; }
};

// Not thread-safe.
class ForkProtocol {
 public:
  explicit ForkProtocol(WorkerId self, std::int64_t first_id = 0) : self_(self), next_id_(first_id) {}

  RRefId next_rref() { return {self_, next_id_++}; }
  ForkId next_fork() { return {self_, next_id_++}; }

  // A call that creates r is sent to `owner`: its fork is held here, pending.
  void begin_creation(RRefId r, ForkId f, WorkerId owner);
  // The call was answered.
  void confirm_creation(ForkId f);
  // The call timed out: the value may exist or not.
  void give_up_creation(ForkId f);
  // The call was not sent.
  void forget_creation(ForkId f);

  // The call has arrived at the owner. Returns false if a call for that reference has arrived before.
  bool create(RRefId r, ForkId f, WorkerId from);

  // Creates a fork of a reference that is owned or of a fork that is held here (required), in flight to `to`.
  // `is_made`: the value is known to exist, so the protocol need not remember its creation.
  Fork share_owned(RRefId r, WorkerId to, bool is_made = false);
  Fork share_held(ForkId held, WorkerId to);
  // The fork was not sent.
  void withdraw(const Fork& fork);

  enum class Arrival : std::uint8_t {
    Owned,  // the reference is owned here
    Held,   // now held as a new fork
    Again,  // already held
  };
  // `why_lost`: non-empty if the owner is gone, even if another worker has its id now.
  Arrival arrive(const Fork& fork, const std::string& why_lost = "");

  // The fork is no longer used here.
  void drop(ForkId f);
  // Drops all forks at once, even if they are in use: for the end of a session.
  std::vector<ForkId> drop_all();

  void receive(WorkerId from, const ForkMessage& message);
  void lose(WorkerId peer, const std::string& why);
  // A successor has replaced a lost worker. Receiving or creating something from that id implies the same.
  void meet(WorkerId peer) { lost_.erase(peer); }

  // Those that were not taken yet.
  const Effects& effects() const noexcept { return effects_; }
  Effects take_effects() noexcept;

  ForkCounts counts() const;
  std::size_t owned_count() const noexcept { return owned_.size(); }
  bool is_held(ForkId f) const { return users_.count(f) != 0; }
  bool is_confirmed(ForkId f) const;  // and still held
  bool is_owned(RRefId r) const { return owned_.count(r) != 0; }
  // Returns why a value that is asked for here is lost. Empty: it exists, or will.
  std::string why_gone(RRefId r) const;
  // Returns the noted forks with their workers. Empty: it is not owned here, or has no holders.
  std::map<ForkId, WorkerId> holders_of(RRefId r) const;
  bool is_noted(RRefId r, ForkId f) const;
  std::vector<RRefId> owned() const;
  // Returns the forks in flight from here, with their receivers.
  std::map<ForkId, WorkerId> children() const;
  // Returns the parents of these forks.
  std::multimap<ForkId, ForkId> parents_of_children() const;
  // Unacknowledged messages.
  const std::map<WorkerId, Outbox>& outboxes() const noexcept { return outboxes_; }
  const std::map<WorkerId, Inbox>& inboxes() const noexcept { return inboxes_; }
  // Returns the whole state in a canonical order: for tests and debugging.
  std::string text() const;
  // Returns an inconsistency in the state, for tests. Empty: none.
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
  // A fork in flight from here.
  struct Child {
    ForkId parent;  // held here
    WorkerId to = -1;
  };
  struct Owned {
    std::map<ForkId, WorkerId> forks;
    bool is_created = false;
  };

  using OwnedMap = std::unordered_map<RRefId, Owned, HashId>;

  // The numbers of effects that a change has at most.
  struct Room {
    std::size_t sends = 0, confirmed = 0, failed = 0, released = 0, uncreated = 0;
  };
  // Memory for messages to send, and for the outboxes of workers without one. A copy has no such memory.
  struct Spare {
    Spare() = default;
    Spare(const Spare&) noexcept {}
    Spare& operator=(const Spare&) noexcept { return *this; }
    std::vector<Outbox::Place> places;
    std::vector<std::map<WorkerId, Outbox>::node_type> outboxes;
  };
  // All that the loss of a worker ends: listed before anything changes.
  struct Loss {
    std::map<WorkerId, std::string>::node_type lost;
    std::vector<RRefId> empty;  // owned here, with no holders left
    std::vector<Effects::Uncreated> uncreated;
    std::vector<Effects::Failed> users;
    std::vector<ForkId> children;
  };

  // Functions that are not noexcept throw before they have changed anything. If their caller has made room for them,
  // they do not throw.
  void make_room(const Room& room);
  void send(WorkerId to, ForkMessage message) noexcept;
  std::pair<OwnedMap::iterator, bool> note(RRefId r, ForkId f, WorkerId holder);
  void handle(WorkerId from, const ForkMessage& message);
  void accept_fork(WorkerId from, const ForkMessage& request);
  void delete_fork(WorkerId from, const ForkMessage& message);
  void remove_fork(OwnedMap::iterator owned, ForkId f);
  void end_owned(OwnedMap::iterator owned) noexcept;
  void release(OwnedMap::iterator owned) noexcept;
  void acknowledge(WorkerId from, const ForkMessage& ack);
  void end_request(ForkId f, std::string why);
  void accept_child(ForkId f);
  void end_if_over(ForkId f) noexcept;
  Loss list_loss(WorkerId peer, const std::string& why) const;
  void prepare(const Loss& loss);
  void bury_all(const Loss& loss);
  void lose_owned(WorkerId peer, Loss& loss) noexcept;
  void lose_users(Loss& loss) noexcept;
  void lose_children(const Loss& loss) noexcept;
  bool bury(RRefId r);

  const WorkerId self_;
  std::int64_t next_id_;
  OwnedMap owned_;
  std::unordered_map<ForkId, User, HashId> users_;
  std::unordered_map<ForkId, Child, HashId> children_;
  base::Recent<RRefId, HashId> dead_{kDeadMax};    // created by other workers
  base::Recent<ForkId, HashId> early_{kEarlyMax};  // deleted before they were created
  std::map<WorkerId, std::string> lost_;
  std::map<WorkerId, Outbox> outboxes_;
  std::map<WorkerId, Inbox> inboxes_;
  Effects effects_;
  Spare spare_;
};

}  // namespace distrun::rref
