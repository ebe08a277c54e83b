#pragma once
// The state of door_model.hpp: the state shared at a rank's door, and the position of each thread.
#include <array>
#include <cstdint>

namespace distrun::agents::pipe::model {

inline constexpr int kModelThreads = 5;

enum class Does : std::uint8_t {
  Nothing,
  // A worker in idle().
  LookAtDoor,
  LookForWake,
  LookWhoWants,
  LookForInput,
  TryOwn,
  Sleep,
  Asleep,
  Attend,
  Poll,
  AfterPoll,
  LeaveToWaiter,
  LookWhetherWanted,
  OwnAgain,
  // let_go(), by the owner.
  Refresh,
  Park,
  ClearOwner,
  LookAtDoorAgain,
  LookAgain,
  OwnWhatCame,
  // drain_and_let_go()
  Drain,
  GiveUpDraining,
  WakeSomebody,
  // A thread in help().
  Help,
  Want,
  WantNoMore,
  WaitAsOwner,
  WaitingPoll,
  LookWhatWasLeft,
  OwnWhatWasLeft,
  // Others: a peer, the I/O thread, a thread that posts a task.
  Write,
  Ring,
  WakeForRing,
  Publish,
  RousePublished,
  WakePublished,
  Begin,
  Rouse,
  WakeForLink,
  CallWorker,
  Knock,
  WakeForCall,
};

enum class Then : std::uint8_t { Idle, Return, Attend, Drain, WaitOn, Stop };  // after let_go() or drain_and_let_go()

struct Thread {
  Does does = Does::Nothing;
  std::uint8_t is_word_fresh = 0;  // the door's word has not changed since it was read
  std::uint8_t was_parked = 0;
  std::uint8_t is_first = 0;
  Then when_free = Then::Idle;  // continuation of drain_and_let_go()
  Then after = Then::Idle;      // continuation of let_go(), if any
  std::uint8_t round = 0;
  std::uint8_t left = 0;  // number of restarts
};

struct State {
  std::uint8_t is_parked = 1;
  std::uint8_t is_owned = 0;
  std::uint8_t wanted = 0;
  std::uint8_t wakes = 0;
  std::uint8_t is_published = 0;  // the link is in the latest list
  std::uint8_t is_polled = 0;     // and in the list that the owner has looked up
  std::uint8_t has_begun = 0;
  std::uint8_t unread = 0;
  std::uint8_t read = 0;
  std::array<Thread, kModelThreads> threads;
};
static_assert(sizeof(State) == 9 + kModelThreads * sizeof(Thread));

}  // namespace distrun::agents::pipe::model
