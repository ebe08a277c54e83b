#pragma once
// A model of an elastic group (session/detail/elastic_group.hpp): workers join, leave, are killed and return, with
// calls, answers, news and losses in flight. The roster is the real one, and so is the comparison of keys.
#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <distrun/runtime/rpc/session/detail/roster.hpp>

#include "support/interleavings.hpp"

namespace distrun::rpc::incarnations {

using distrun::testing::ModelStep;

constexpr std::size_t kIds = 3, kSlots = 2, kInFlight = 14;
constexpr std::uint8_t kIncarnationMax = 3;

enum class In : std::uint8_t { Nothing, Call, Running, Answer, Join, Leave, Loss };

// A message in flight to a worker, or a call that runs there. Joins, leaves and losses are news of their sender.
struct InFlight {
  In kind = In::Nothing;
  std::uint8_t from = 0, from_incarnation = 0;
  std::uint8_t to = 0, to_incarnation = 0;
  std::uint8_t number = 0;
  // Seen by the test only: the number of the call that it is or answers, and the worker that it was made for.
  std::uint8_t call = 0, made_for = 0;

  auto operator<=>(const InFlight&) const = default;
};

// A call of a worker: its worker is looked up, it is listed as pending, and sent.
struct Outgoing {
  enum Phase : std::uint8_t { None, LookedUp, Listed, Sent };
  std::uint8_t phase = None;
  std::uint8_t to = 0, to_incarnation = 0;
  std::uint8_t number = 0;
  std::uint8_t call = 0;

  WorkerKey key() const { return {to, to_incarnation}; }
};

// The latest worker with an id, and what it knows. Its successor begins with nothing, and with the first number.
struct Life {
  std::uint8_t incarnation = 0;
  std::uint8_t is_alive = 0;
  std::uint8_t last_number = 0;
  std::array<std::uint8_t, kIds> known{};    // incarnations; 0: none
  std::array<std::uint8_t, kIds> removed{};  // the latest of each id
  std::array<Outgoing, kSlots> outgoing{};
};

enum Wrong : std::uint8_t { Nothing, OthersAnswer, FailsForNothing, ReachesAnother, ModelTooSmall };

struct Group {
  std::array<Life, kIds> lives{};
  std::array<std::uint8_t, kIds> log{};  // the members in the store; 0: none
  std::array<InFlight, kInFlight> in_flight{};
  std::uint8_t calls = 0;
  std::uint8_t calls_left = 0, kills_left = 0, leaves_left = 0, timeouts_left = 0;
  std::uint8_t wrong = Nothing;
};
static_assert(std::has_unique_object_representations_v<Group>);

enum class Flaw {
  None,
  AnswersById,           // an answer goes to the worker that has the caller's id by then
  ReadsById,             // a worker reads what was sent to its predecessor
  SendsById,             // a call goes to the worker that has the id by then
  LosesById,             // a loss ends the calls to all workers of the id
  RemovesById,           // a loss, or a leave, removes any worker of the id
  ForgetsRemoved,        // a late join adds a worker that has left
  KeepsCallsOfReplaced,  // a worker that is replaced, or leaves, may still answer
};

inline Member member_of(std::size_t id, std::uint8_t incarnation) {
  Member member;
  member.name = std::string(1, static_cast<char>('a' + id));
  member.id = static_cast<WorkerId>(id);
  member.incarnation = incarnation;
  member.order = incarnation;  // compared with those of the same id only
  return member;
}

class GroupModel {
 public:
  GroupModel(Group first, Flaw flaw) : first_(first), flaw_(flaw) {}

  Group first() const { return first_; }
  bool is_goal(const Group& group) const { return is_quiet(group) && wrong_end(group).empty(); }
  std::string wrong(const Group& group) const {
    switch (group.wrong) {
      case OthersAnswer: return "a call has got the answer of another call";
      case FailsForNothing: return "a call has failed, and its worker is there";
      case ReachesAnother: return "a call has reached another worker than its own";
      case ModelTooSmall: return "the model has too little room for messages";
      default: return is_quiet(group) ? wrong_end(group) : "";
    }
  }
  std::string wrong_end(const Group& group) const {
    for (const Life& own : group.lives) {
      if (!own.is_alive) continue;
      for (const Outgoing& each : own.outgoing) {
        if (each.phase != Outgoing::None) return "a call never ends";
      }
      for (std::size_t id = 0; id < kIds; ++id) {
        const Life& other = group.lives[id];
        if (&other == &own) continue;
        if (other.is_alive && own.known[id] != other.incarnation) return "a worker is missing on a list";
        if (!other.is_alive && own.known[id] != 0) return "a worker that has ended is still on a list";
      }
    }
    return "";
  }

  void add_steps(const Group& group, std::vector<ModelStep<Group>>& steps) const {
    if (group.wrong != Nothing) return;
    for (std::size_t id = 0; id < kIds; ++id) {
      const Adding add{group, id, steps};
      group.lives[id].is_alive ? add_life(add) : add_return(add);
    }
    for (std::size_t at = 0; at < kInFlight; ++at) {
      if (group.in_flight[at].kind != In::Nothing) add_arrival(group, at, steps);
    }
  }

 private:
  struct Adding {
    const Group& before;
    const std::size_t id;
    std::vector<ModelStep<Group>>& steps;

    const Life& own() const { return before.lives[id]; }
    template <class Change>
    void step(const char* what, Change change) const {
      Group after = before;
      change(after, after.lives[id]);
      std::ranges::sort(after.in_flight, std::greater());
      steps.push_back({what, static_cast<int>(id), after});
    }
  };

  static bool is_quiet(const Group& group) {
    if (group.in_flight.front().kind != In::Nothing) return false;
    return std::ranges::all_of(group.lives, [](const Life& life) {
      return std::ranges::all_of(life.outgoing, [](const Outgoing& each) { return each.phase == Outgoing::None; });
    });
  }
  static bool is_there(const Group& group, std::uint8_t id, std::uint8_t incarnation) {
    return group.lives[id].is_alive && group.lives[id].incarnation == incarnation;
  }
  static void put(Group& group, const InFlight& message) {
    const auto free = std::ranges::find(group.in_flight, In::Nothing, &InFlight::kind);
    if (free == group.in_flight.end()) {
      group.wrong = ModelTooSmall;
    } else {
      *free = message;
    }
  }
  static void put_news(Group& group, In kind, std::size_t of, std::size_t to) {
    put(group, {kind, static_cast<std::uint8_t>(of), group.lives[of].incarnation, static_cast<std::uint8_t>(to),
                group.lives[to].incarnation});
  }

  void add_life(const Adding& add) const {
    add_calls(add);
    if (add.before.kills_left > 0) {
      add.step("is killed", [&](Group& group, Life&) {
        --group.kills_left;
        end(group, add.id);
      });
    }
    if (add.before.leaves_left > 0) {  // also if init_rpc() fails, while its joins are in flight
      add.step("leaves", [&](Group& group, Life&) {
        --group.leaves_left;
        group.log[add.id] = 0;
        for (std::size_t other = 0; other < kIds; ++other) {
          if (other != add.id && group.lives[other].is_alive) put_news(group, In::Leave, add.id, other);
        }
        end(group, add.id);
      });
    }
  }

  // Its connections end, which is noticed later. What was sent to it is lost.
  void end(Group& group, std::size_t id) const {
    Life& life = group.lives[id];
    for (std::size_t other = 0; other < kIds; ++other) {
      const Life& there = group.lives[other];
      if (other == id || !there.is_alive) continue;
      const bool is_connected = there.known[id] == life.incarnation || joins(group, id, other);
      if (is_connected) put_news(group, In::Loss, id, other);
    }
    if (flaw_ != Flaw::ReadsById) {
      for (InFlight& each : group.in_flight) {
        if (each.to == id) each = {};
      }
    }
    const std::uint8_t incarnation = life.incarnation;
    life = {};
    life.incarnation = incarnation;
  }

  // Reads the log, and announces itself. A member that was killed is found to be gone, and its successor replaces it.
  void add_return(const Adding& add) const {
    if (add.own().incarnation == kIncarnationMax || add.own().incarnation == 0) return;
    add.step("joins", [&](Group& group, Life& own) {
      ++own.incarnation;
      own.is_alive = 1;
      group.log[add.id] = own.incarnation;
      for (std::size_t other = 0; other < kIds; ++other) {
        if (other == add.id || group.log[other] == 0) continue;
        own.known[other] = group.log[other];
        if (group.lives[other].is_alive) {
          put_news(group, In::Join, add.id, other);
        } else {
          put_news(group, In::Loss, other, add.id);
        }
      }
    });
  }

  // Returns whether the latest worker with an id has news of its join in flight to another.
  static bool joins(const Group& group, std::size_t id, std::size_t other) {
    return std::ranges::any_of(group.in_flight, [&](const InFlight& each) {
      return each.kind == In::Join && each.from == id && each.from_incarnation == group.lives[id].incarnation &&
             each.to == other;
    });
  }
  // Returns whether its init_rpc() has returned: all members have answered.
  static bool has_joined(const Adding& add) {
    for (std::size_t other = 0; other < kIds; ++other) {
      if (joins(add.before, add.id, other)) return false;
    }
    return true;
  }

  void add_calls(const Adding& add) const {
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      switch (add.own().outgoing[slot].phase) {
        case Outgoing::None: add_look_up(add, slot); break;
        case Outgoing::LookedUp:
          add.step("lists a call", [&](Group&, Life& own) {
            own.outgoing[slot].phase = Outgoing::Listed;
            own.outgoing[slot].number = ++own.last_number;
          });
          break;
        case Outgoing::Listed:
          add.step("sends a call", [&](Group& group, Life& own) { send(group, add.id, own.outgoing[slot]); });
          break;
        default:
          if (add.before.timeouts_left == 0) break;
          add.step("gives up a call", [&](Group& group, Life& own) {
            --group.timeouts_left;
            own.outgoing[slot] = {};
          });
      }
    }
  }

  void add_look_up(const Adding& add, std::size_t slot) const {
    if (add.before.calls_left == 0 || !has_joined(add)) return;
    if (slot > 0 && add.own().outgoing[slot - 1].phase == Outgoing::None) return;  // the slots are alike
    for (std::size_t to = 0; to < kIds; ++to) {
      if (add.own().known[to] == 0) continue;
      add.step("looks up a worker", [&](Group& group, Life& own) {
        --group.calls_left;
        own.outgoing[slot] = {Outgoing::LookedUp, static_cast<std::uint8_t>(to), own.known[to], 0, ++group.calls};
      });
    }
  }

  // The agent refuses the call if it knows another worker by now, or none.
  void send(Group& group, std::size_t from, Outgoing& call) const {
    const Life& own = group.lives[from];
    const std::uint8_t known = own.known[call.to];
    const bool is_refused = flaw_ == Flaw::SendsById ? known == 0 : known != call.to_incarnation;
    if (is_refused) {
      call = {};
      return;
    }
    call.phase = Outgoing::Sent;
    if (!is_there(group, call.to, known)) return;  // what is sent to a worker that has ended is lost
    put(group, {In::Call, static_cast<std::uint8_t>(from), own.incarnation, call.to, known, call.number, call.call,
                call.to_incarnation});
  }

  void add_arrival(const Group& group, std::size_t at, std::vector<ModelStep<Group>>& steps) const {
    const InFlight& message = group.in_flight[at];
    const Adding add{group, message.to, steps};
    if (!add.own().is_alive) return;
    const auto step = [&](const char* what, auto change) {
      add.step(what, [&](Group& after, Life& own) {
        after.in_flight[at] = {};
        change(after, own);
      });
    };
    switch (message.kind) {
      case In::Call:
        step("reads a call", [&](Group& after, Life& own) {
          if (own.incarnation != message.made_for) after.wrong = ReachesAnother;
          InFlight running = message;
          running.kind = In::Running;
          put(after, running);
        });
        break;
      case In::Running: step("answers", [&](Group& after, Life& own) { answer(after, own, message); }); break;
      case In::Answer: step("reads an answer", [&](Group& after, Life& own) { take(after, own, message); }); break;
      case In::Join: step("learns of a join", [&](Group& after, Life& own) { add_member(after, own, message); }); break;
      case In::Leave: step("learns of a leave", [&](Group& after, Life& own) { remove(after, own, message); }); break;
      case In::Loss: add_loss(add, message, step); break;
      default: break;
    }
  }

  // The end of a connection is noticed after what it has carried. An agent does not report the end of one to a worker
  // that was removed.
  template <class Step>
  void add_loss(const Adding& add, const InFlight& loss, Step step) const {
    const bool is_last = std::ranges::none_of(add.before.in_flight, [&](const InFlight& each) {
      return each.kind == In::Join && each.from == loss.from && each.from_incarnation == loss.from_incarnation &&
             each.to == loss.to;
    });
    if (is_last) {
      step("notices a loss", [&](Group& after, Life& own) {
        lose(after, own, {loss.from, flaw_ == Flaw::LosesById ? 0U : loss.from_incarnation});
        remove(after, own, loss);
      });
    }
    const bool was_removed =
        add.own().removed[loss.from] >= loss.from_incarnation && add.own().known[loss.from] != loss.from_incarnation;
    if (was_removed) step("does not notice a loss", [](Group&, Life&) {});
  }

  void answer(Group& group, const Life& own, const InFlight& call) const {
    const std::uint8_t known = own.known[call.from];
    const bool is_refused = flaw_ == Flaw::AnswersById ? known == 0 : known != call.from_incarnation;
    if (is_refused || !is_there(group, call.from, known)) return;
    put(group, {In::Answer, call.to, call.to_incarnation, call.from, known, call.number, call.call, call.made_for});
  }

  static void take(Group& group, Life& own, const InFlight& answer) {
    for (Outgoing& each : own.outgoing) {
      const bool is_it = each.phase >= Outgoing::Listed && each.number == answer.number &&
                         each.key().matches({answer.from, answer.from_incarnation});
      if (!is_it) continue;
      if (each.call != answer.call) group.wrong = OthersAnswer;
      each = {};
      return;
    }
  }

  // Fails the pending calls to a worker.
  static void lose(Group& group, Life& own, WorkerKey key) {
    for (Outgoing& each : own.outgoing) {
      if (each.phase < Outgoing::Listed || !each.key().matches(key)) continue;
      if (is_there(group, each.to, each.to_incarnation)) group.wrong = FailsForNothing;
      each = {};
    }
  }

  Roster roster_of(const Life& own) const {
    Roster roster;
    for (std::size_t id = 0; id < kIds; ++id) {
      const auto worker = static_cast<WorkerId>(id);
      if (own.removed[id] != 0 && flaw_ != Flaw::ForgetsRemoved) roster.remove({worker, own.removed[id]});
      if (own.known[id] != 0) roster.add(member_of(id, own.known[id]));
    }
    return roster;
  }

  void remove(Group& group, Life& own, const InFlight& news) const {
    Roster roster = roster_of(own);
    const WorkerKey key(news.from, flaw_ == Flaw::RemovesById ? 0U : news.from_incarnation);
    own.removed[news.from] = std::max(own.removed[news.from], news.from_incarnation);
    if (!roster.remove(key)) return;
    own.known[news.from] = 0;
    if (flaw_ != Flaw::KeepsCallsOfReplaced) lose(group, own, {news.from, news.from_incarnation});
  }

  void add_member(Group& group, Life& own, const InFlight& news) const {
    const Member member = member_of(news.from, news.from_incarnation);
    const Roster roster = roster_of(own);
    if (roster.has(member)) return;
    for (const Member& each : roster.predecessors_of(member)) {
      remove(group, own, {In::Leave, news.from, static_cast<std::uint8_t>(each.incarnation)});
    }
    own.known[news.from] = news.from_incarnation;
  }

  const Group first_;
  const Flaw flaw_;
};

}  // namespace distrun::rpc::incarnations
