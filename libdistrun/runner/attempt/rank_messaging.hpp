#pragma once
// Relays what ranks send to each other: messages, barriers and news of failures. Also sends everything else to ranks:
// frames for a rank that has not begun are queued until it has its order. Lives on: the coordinator's loop.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/attempt/barrier_desk.hpp>
#include <distrun/runner/attempt/receive_desk.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::runner {

class RankMessaging {
 public:
  // Called when a rank does not read, so that it cannot be controlled; possibly from within any function here.
  using OnUnreachable = std::function<void(int rank, const std::string& why)>;

  RankMessaging(int world_size, OnUnreachable on_unreachable);
  // Call before anything else. The world must outlive this.
  void use(launch::World& world);

  // Sends a message to the rank.
  template <class Message>
  void send(int rank, wire::ControlFrame kind, const Message& message) {
    send_packed(rank, wire::pack(kind, static_cast<std::uint16_t>(rank), message));
  }
  // Sends a frame without payload.
  void send(int rank, wire::ControlFrame kind) {
    send_packed(rank, wire::pack_frame(kind, static_cast<std::uint16_t>(rank), {}));
  }
  // Sends the rank its order, followed by what other ranks have sent to it so far.
  void begin(int rank, const wire::RunOrder& order);

  // Relays a message between ranks. Throws Error{InvalidArgument} if the target does not exist; drops the message and
  // throws Error{Overloaded} if too much is queued for it.
  void pass_on(int from, wire::RankMessage message);
  void enter_barrier(int rank, const std::string& barrier);
  void wait_for_message(int rank, const wire::ReceiveWait& wait);
  void end_wait(int rank, const wire::ReceiveWait& wait) { receives_.end(rank, wait); }
  // The rank enters no more barriers and sends nothing more; `declared`: it died as its test declared.
  void leave(int rank, bool declared);
  // Returns `barrier "x"` or `receive("token") from rank 1`; or empty.
  std::string waiting_in(int rank) const;
  // Returns how many frames were sent to ranks so far: what one of them waits for may be among the last ones.
  std::uint64_t sent() const noexcept { return sent_; }
  // Drops waits that the rank still shows although what ends them has been sent to it.
  void drop_ended_waits(int rank, board::Shown& shown) const;

 private:
  struct Line {
    bool is_open = false;              // its order has been sent
    std::vector<wire::Bytes> waiting;  // frames queued before that
    std::size_t waiting_bytes = 0;
  };

  void release(const Release& release);
  void send_packed(int rank, wire::Bytes packed);
  void post(int rank, wire::Bytes packed);

  launch::World* world_ = nullptr;
  OnUnreachable on_unreachable_;
  std::uint64_t sent_ = 0;
  std::vector<Line> lines_;  // by rank
  BarrierDesk barriers_;
  ReceiveDesk receives_;
};

}  // namespace distrun::runner
