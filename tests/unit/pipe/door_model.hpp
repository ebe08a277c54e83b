#pragma once
// A model of a rank's door and its users: peers that write and ring, links that begin, idle workers, threads that wait
// for a reply, and threads that want a worker back. It follows door.hpp and reactor.cpp step by step: each access to
// shared state is a separate step.
#include <string>
#include <vector>

#include "door_model_state.hpp"
#include "support/interleavings.hpp"

namespace distrun::agents::pipe::model {

using distrun::testing::ModelStep;

inline constexpr std::uint8_t kModelDrains = 1;  // rounds, like kDrains

// Errors that the code once had, or could have.
enum class Fault { None, LooksAtOldLinks, LooksAtNothing, TrustsTheDoor, LeavesWhatWasLeft, ReadsTheDoorLate };

class DoorModel {
 public:
  DoorModel(State first, Fault fault) : first_(first), fault_(fault) {}

  State first() const { return first_; }
  std::string wrong(const State&) const { return ""; }
  std::string wrong_end(const State& state) const {
    if (can_read(state)) return "a message is unread, and all sleep";
    return state.wakes > 0 ? "a worker is called, and all sleep" : "";
  }
  bool is_goal(const State& state) const { return !can_read(state) && state.wakes == 0; }

  void add_steps(const State& state, std::vector<ModelStep<State>>& steps) const {
    for (int thread = 0; thread < kModelThreads; ++thread) {
      Taking taking{state, thread, steps};
      take(taking, state.threads[static_cast<std::size_t>(thread)].does);
    }
  }

 private:
  static bool can_read(const State& state) { return state.is_published && state.has_begun && state.unread > 0; }
  static bool can_read_polled(const State& state) { return state.is_polled && state.has_begun && state.unread > 0; }

  // The steps of one thread from one state.
  struct Taking {
    const State& before;
    const int thread;
    std::vector<ModelStep<State>>& steps;

    const Thread& own() const { return before.threads[static_cast<std::size_t>(thread)]; }
    template <class Change>
    void to(Does next, const char* what, Change change) {
      State after = before;
      Thread& own = after.threads[static_cast<std::size_t>(thread)];
      own.does = next;
      change(after, own);
      for (Thread& each : after.threads) forget_what_is_over(each);
      steps.push_back({what, thread, after});
    }
    void to(Does next, const char* what) {
      to(next, what, [](State&, Thread&) {});
    }
  };

  static void set_door(State& state, bool parked) {
    state.is_parked = parked;
    for (Thread& each : state.threads) each.is_word_fresh = 0;
  }
  static void set_polling(State& state) {
    if (state.is_parked) set_door(state, false);
  }

  // Merges states that differ only in irrelevant fields.
  static void forget_what_is_over(Thread& thread) {
    const Does does = thread.does;
    if (does <= Does::LookAtDoor || does > Does::Sleep) thread.is_word_fresh = 0;
    if (does <= Does::LookAtDoor || does > Does::LookWhoWants) thread.was_parked = 0;
    if (does < Does::LookAtDoor || does > Does::LookWhoWants) thread.is_first = 0;
    const bool lets_go = does >= Does::Refresh && does <= Does::OwnWhatCame;
    const bool drains = (does >= Does::Drain && does <= Does::WakeSomebody) || (lets_go && thread.after == Then::Drain);
    if (!lets_go) thread.after = Then::Idle;
    if (!drains) thread.when_free = Then::Idle, thread.round = 0;
  }

  // FUTEX_WAKE of one sleeper, any of them.
  static void wake_one(Taking& taking, Does next, const char* what) {
    bool is_there = false;
    for (std::size_t each = 0; each < kModelThreads; ++each) {
      if (taking.before.threads[each].does != Does::Asleep) continue;
      is_there = true;
      taking.to(next, what, [each](State& state, Thread&) { state.threads[each].does = Does::LookAtDoor; });
    }
    if (!is_there) taking.to(next, what);
  }

  static void try_own(Taking& taking, Does mine, Does others, const char* what) {
    if (taking.before.is_owned) return taking.to(others, what);
    taking.to(mine, what, [](State& state, Thread&) { state.is_owned = 1; });
  }

  static void ring(Taking& taking, Does woken, Does not_needed, const char* what) {
    if (!taking.before.is_parked) return taking.to(not_needed, what);
    taking.to(woken, what, [](State& state, Thread&) { set_door(state, false); });
  }

  static void drain(Thread& own, Then then) {
    own.does = Does::Drain;
    own.when_free = then;
    own.round = 0;
  }

  // Continues after let_go(), and after drain_and_let_go().
  static void go_on(Thread& own, Then then) {
    switch (then) {
      case Then::Idle: own.does = Does::LookAtDoor, own.is_first = 0; break;
      case Then::Return: own.does = Does::LookAtDoor, own.is_first = 1; break;  // has run its task
      case Then::Attend: own.does = Does::Poll; break;
      case Then::Drain: own.does = own.round < kModelDrains ? Does::Drain : Does::GiveUpDraining; break;
      case Then::WaitOn: own.does = Does::Help; break;
      case Then::Stop: own.does = own.left-- > 0 ? Does::Help : Does::Nothing; break;
    }
    if (own.does == Does::Nothing) own = Thread();
  }

  static void begin_let_go(Thread& own, Then after) {
    own.after = after;
    own.does = Does::Refresh;
  }

  void take(Taking& t, Does does) const {
    switch (does) {
      case Does::Nothing:
      case Does::Asleep: return;
      case Does::LookAtDoor:
      case Does::LookForWake:
      case Does::LookWhoWants:
      case Does::LookForInput:
      case Does::TryOwn:
      case Does::Sleep: return take_idle(t, does);
      case Does::Attend:
      case Does::Poll:
      case Does::AfterPoll:
      case Does::LeaveToWaiter:
      case Does::LookWhetherWanted:
      case Does::OwnAgain: return take_attend(t, does);
      case Does::Refresh:
      case Does::Park:
      case Does::ClearOwner:
      case Does::LookAtDoorAgain:
      case Does::LookAgain:
      case Does::OwnWhatCame: return take_let_go(t, does);
      case Does::Drain:
      case Does::GiveUpDraining:
      case Does::WakeSomebody: return take_drain(t, does);
      case Does::Help:
      case Does::Want:
      case Does::WantNoMore:
      case Does::WaitAsOwner:
      case Does::WaitingPoll:
      case Does::LookWhatWasLeft:
      case Does::OwnWhatWasLeft: return take_help(t, does);
      default: return take_other(t, does);
    }
  }

  void take_idle(Taking& t, Does does) const {
    const Thread& own = t.own();
    switch (does) {
      case Does::LookAtDoor:
        return t.to(Does::LookForWake, "reads the door", [](State& state, Thread& mine) {
          mine.is_word_fresh = 1;
          mine.was_parked = state.is_parked;
        });
      case Does::LookForWake:
        if (t.before.wakes == 0) return t.to(Does::LookWhoWants, "is not called");
        return t.to(Does::LookAtDoor, "is called, and returns", [](State& state, Thread& mine) {
          --state.wakes;
          mine.is_first = 1;
        });
      case Does::LookWhoWants: {
        const bool is_left = !own.was_parked && t.before.wanted == 0;
        return t.to(own.is_first || is_left ? Does::TryOwn : Does::LookForInput, "looks who wants to own");
      }
      case Does::LookForInput: return t.to(can_read(t.before) ? Does::TryOwn : Does::Sleep, "looks into the rings");
      case Does::TryOwn: return try_own(t, Does::Attend, Does::Sleep, "tries to own");
      default: {
        const bool sleeps = own.is_word_fresh || fault_ == Fault::ReadsTheDoorLate;
        return t.to(sleeps ? Does::Asleep : Does::LookAtDoor, "falls asleep on the word");
      }
    }
  }

  void take_attend(Taking& t, Does does) const {
    switch (does) {
      case Does::Attend:
        return t.to(Does::Poll, "sets the door to polling", [](State& state, Thread&) { set_polling(state); });
      case Does::Poll:
        if (!(t.before.is_published && t.before.has_begun && t.before.unread > 0)) {
          return t.to(Does::AfterPoll, "finds nothing",
                      [](State& state, Thread&) { state.is_polled = state.is_published; });
        }
        t.to(Does::Poll, "reads a message", read_one);
        return t.to(Does::Drain, "reads a message that is a task", [](State& state, Thread& own) {
          read_one(state, own);
          drain(own, Then::Return);
        });
      case Does::AfterPoll:
        if (t.before.wakes > 0) {
          return t.to(Does::Drain, "is called", [](State& state, Thread& own) {
            --state.wakes;
            drain(own, Then::Return);
          });
        }
        if (t.before.wanted > 0) return t.to(Does::LeaveToWaiter, "makes room for a waiter");
        t.to(Does::Poll, "looks on");
        return t.to(Does::Refresh, "has no patience left", [](State&, Thread& own) { begin_let_go(own, Then::Idle); });
      case Does::LeaveToWaiter:
        return t.to(Does::LookWhetherWanted, "clears the owner", [](State& state, Thread& own) {
          state.is_owned = 0;
          own.is_first = 0;
        });
      case Does::LookWhetherWanted:
        return t.to(t.before.wanted == 0 ? Does::OwnAgain : Does::LookAtDoor, "looks whether it is still wanted");
      default:
        if (t.before.is_owned) return t.to(Does::LookAtDoor, "is too late to own again");
        return t.to(Does::Drain, "owns again", [](State& state, Thread& own) {
          state.is_owned = 1;
          drain(own, Then::Idle);
        });
    }
  }

  static void read_one(State& state, Thread&) {
    state.is_polled = state.is_published;
    --state.unread;
    ++state.read;
  }

  void take_let_go(Taking& t, Does does) const {
    const auto is_there = [&] {
      if (fault_ == Fault::LooksAtNothing) return false;
      return fault_ == Fault::LooksAtOldLinks ? can_read_polled(t.before) : can_read(t.before);
    };
    switch (does) {
      case Does::Refresh:
        return t.to(Does::Park, "pays its bells", [](State& state, Thread&) { state.is_polled = state.is_published; });
      case Does::Park:
        return t.to(Does::ClearOwner, "parks the door", [](State& state, Thread&) { set_door(state, true); });
      case Does::ClearOwner:
        return t.to(Does::LookAtDoorAgain, "clears the owner", [](State& state, Thread&) { state.is_owned = 0; });
      case Does::LookAtDoorAgain:
        if (!t.before.is_parked && fault_ != Fault::TrustsTheDoor)
          return t.to(Does::OwnWhatCame, "sees that a peer has rung");
        return t.to(Does::LookAgain, "sees that the door is parked");
      case Does::LookAgain:
        if (is_there()) return t.to(Does::OwnWhatCame, "finds that something has come");
        return t.to(Does::Nothing, "finds nothing more, and is free",
                    [](State&, Thread& own) { go_on(own, own.after == Then::Drain ? own.when_free : own.after); });
      default:
        if (t.before.is_owned) {
          return t.to(Does::Nothing, "leaves it to another owner",
                      [](State&, Thread& own) { go_on(own, own.after == Then::Drain ? own.when_free : own.after); });
        }
        return t.to(Does::Nothing, "owns what has come", [](State& state, Thread& own) {
          state.is_owned = 1;
          set_polling(state);
          go_on(own, own.after == Then::Drain ? Then::Drain : Then::Attend);
        });
    }
  }

  void take_drain(Taking& t, Does does) const {
    switch (does) {
      case Does::Drain:
        return t.to(Does::Refresh, "reads what there is", [](State& state, Thread& own) {
          if (can_read(state)) {
            state.read = static_cast<std::uint8_t>(state.read + state.unread);
            state.unread = 0;
          }
          ++own.round;
          begin_let_go(own, Then::Drain);
        });
      case Does::GiveUpDraining:
        return t.to(Does::WakeSomebody, "clears the owner, and leaves the door at polling", [](State& state, Thread&) {
          state.is_owned = 0;
          set_door(state, state.is_parked != 0);  // wake() changes the word
        });
      default: {
        const Then then = t.own().when_free;
        const std::size_t before = t.steps.size();
        wake_one(t, Does::Nothing, "wakes a sleeper");
        for (std::size_t each = before; each < t.steps.size(); ++each) {
          Thread& own = t.steps[each].next.threads[static_cast<std::size_t>(t.thread)];
          go_on(own, then);
          forget_what_is_over(own);
        }
        return;
      }
    }
  }

  // The reply may arrive, and the timeout may end, at any time.
  void take_help(Taking& t, Does does) const {
    switch (does) {
      case Does::Help:
        if (fault_ == Fault::LeavesWhatWasLeft) {
          t.to(Does::Nothing, "leaves", [](State&, Thread& own) { go_on(own, Then::Stop); });
        } else {
          t.to(Does::LookWhatWasLeft, "does not wait any more");
        }
        return try_own(t, Does::WaitAsOwner, Does::Want, "tries to own");
      case Does::Want: return t.to(Does::WantNoMore, "wants to own", [](State& state, Thread&) { ++state.wanted; });
      case Does::WantNoMore: return t.to(Does::Help, "wants no more", [](State& state, Thread&) { --state.wanted; });
      case Does::WaitAsOwner:
        return t.to(Does::WaitingPoll, "sets the door to polling", [](State& state, Thread&) { set_polling(state); });
      case Does::WaitingPoll:
        if (can_read(t.before)) t.to(Does::WaitingPoll, "reads a message", read_one);
        t.to(Does::Drain, "would sleep now", [](State&, Thread& own) { drain(own, Then::Stop); });
        return t.to(Does::Drain, "has what it waits for", [](State&, Thread& own) { drain(own, Then::WaitOn); });
      case Does::LookWhatWasLeft:
        if (!t.before.is_parked) return t.to(Does::OwnWhatWasLeft, "sees that the door says polling");
        return t.to(Does::Nothing, "leaves", [](State&, Thread& own) { go_on(own, Then::Stop); });
      default:
        if (t.before.is_owned) {
          return t.to(Does::Nothing, "leaves it to the owner", [](State&, Thread& own) { go_on(own, Then::Stop); });
        }
        return t.to(Does::Drain, "owns what was left", [](State& state, Thread& own) {
          state.is_owned = 1;
          drain(own, Then::Stop);
        });
    }
  }

  void take_other(Taking& t, Does does) const {
    switch (does) {
      case Does::Write: return t.to(Does::Ring, "writes a message", [](State& state, Thread&) { ++state.unread; });
      case Does::Ring: return ring(t, Does::WakeForRing, after_writing(t), "rings");
      case Does::WakeForRing: return wake_one(t, after_writing(t), "wakes a sleeper");
      case Does::Publish:
        return t.to(Does::RousePublished, "publishes the link", [](State& state, Thread&) { state.is_published = 1; });
      case Does::RousePublished: return ring(t, Does::WakePublished, Does::Begin, "rings for the links");
      case Does::WakePublished: return wake_one(t, Does::Begin, "wakes a sleeper");
      case Does::Begin: return t.to(Does::Rouse, "begins the link", [](State& state, Thread&) { state.has_begun = 1; });
      case Does::Rouse: return ring(t, Does::WakeForLink, Does::Nothing, "rings for the link");
      case Does::WakeForLink: return wake_one(t, Does::Nothing, "wakes a sleeper");
      case Does::CallWorker: return t.to(Does::Knock, "calls a worker", [](State& state, Thread&) { ++state.wakes; });
      case Does::Knock:
        return t.to(Does::WakeForCall, "changes the word",
                    [](State& state, Thread&) { set_door(state, state.is_parked != 0); });
      default: return wake_one(t, Does::Nothing, "wakes a sleeper");
    }
  }

  // The peer writes again up to its limit, counted by the messages written.
  static Does after_writing(const Taking& t) {
    return t.before.unread + t.before.read < t.own().left ? Does::Write : Does::Nothing;
  }

  const State first_;
  const Fault fault_;
};

}  // namespace distrun::agents::pipe::model
