#pragma once
// What ranks have to say to each other goes through here: messages, barriers, and the news of a failure. And what is
// said to them: frames for a rank that has not begun wait until it has its order. Lives on: the coordinator's loop.
#include <functional>
#include <string>
#include <vector>

#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/attempt/barrier_desk.hpp>
#include <distrun/runner/attempt/receive_desk.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::runner {

class Talk {
 public:
  // A rank that does not read cannot be led. May be called in the middle of any function here.
  using OnUnreachable = std::function<void(int rank, const std::string& why)>;

  Talk(int world_size, OnUnreachable on_unreachable);
  // Before anything else is called. The world outlives it.
  void use(launch::World& world) noexcept { world_ = &world; }

  // A message to the rank.
  template <class Message>
  void send(int rank, wire::ControlFrame kind, const Message& message) {
    send_packed(rank, wire::pack(kind, static_cast<std::uint16_t>(rank), message));
  }
  // The same without anything to say but its kind.
  void send(int rank, wire::ControlFrame kind) {
    send_packed(rank, wire::pack_frame(kind, static_cast<std::uint16_t>(rank), {}));
  }
  // Its order, and behind it whatever other ranks have sent to it already.
  void begin(int rank, const wire::RunOrder& order);

  // From a rank to another. Throws Error{InvalidArgument} if there is no such rank, Error{Overloaded} if too much waits
  // for that one already: the message is dropped then.
  void pass_on(int from, wire::RankMessage message);
  void enter_barrier(int rank, const std::string& barrier);
  void wait_for_message(int rank, const wire::ReceiveWait& wait);
  void end_wait(int rank, const wire::ReceiveWait& wait) { receives_.end(rank, wait); }
  // The rank comes to no barrier and sends nothing any more; `declared`: it has died as its test wanted it to.
  void leave(int rank, bool declared);
  // `barrier "x"`, `receive("token") from rank 1`; or empty.
  std::string waiting_in(int rank) const;
  // Drops the waits that the rank shows though they have ended: what ends them has been sent to it.
  void drop_ended_waits(int rank, board::Shown& shown) const;

 private:
  struct Line {
    bool is_open = false;              // its order is out
    std::vector<wire::Bytes> waiting;  // frames that came before that
    std::size_t waiting_bytes = 0;
  };

  void release(const Release& release);
  void send_packed(int rank, wire::Bytes packed);
  void post(int rank, wire::Bytes packed);

  launch::World* world_ = nullptr;
  OnUnreachable on_unreachable_;
  std::vector<Line> lines_;  // by rank
  BarrierDesk barriers_;
  ReceiveDesk receives_;
};

}  // namespace distrun::runner
