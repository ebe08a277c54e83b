#pragma once
// Point-to-point messages of a group. Small ones are copied into the mail box and are done. The receiver reads the
// bytes of large ones from the sender's memory (a direct read), or, where that is not allowed, from memory that the
// sender shares for this one message.
//
//   sending    queued -> in the box -> done; with a direct read: -> offered -> fetching -> fetched
//   receiving  posted -> matched with a message -> done
//
// Receives are matched in the order in which they were posted: each message goes to the first that wants it, by sender
// and tag; unmatched messages are kept. The first thread that looks takes the messages out of the boxes for all.
//
// At most kKeptMost bytes of one sender are kept. Further messages stay in the box, and their sender waits, until a
// receive takes a kept one. The message that a receive waits for may be behind them; its timeout then says so.
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/runtime/collectives/host_backend.hpp>
#include <distrun/runtime/collectives/shm/bell.hpp>
#include <distrun/runtime/collectives/shm/direct_reads.hpp>
#include <distrun/runtime/collectives/shm/mail_boxes.hpp>
#include <distrun/runtime/collectives/shm/peer_memory.hpp>

namespace distrun::collectives::shm {

// The messages of one rank of a group. Thread-safe. Its transfers keep it alive.
class Mail : public std::enable_shared_from_this<Mail> {
 public:
  Mail(std::shared_ptr<Area> area, const GroupInfo& group, const Bells& bells);

  void use_peer_memory(bool may) noexcept { may_fetch_ = may; }
  std::unique_ptr<Transfer> send(const PointToPoint& message, ConstBytes bytes);
  std::unique_ptr<Transfer> receive(const PointToPoint& message, Bytes bytes);

 private:
  class Sending;
  class Receiving;
  // Messages of one sender that no receive has asked for yet.
  struct Kept {
    std::size_t bytes = 0;
    bool is_full = false;  // the next one did not fit, and stays in the box
  };

  // Call these with mutex_ held.
  void put_queued(int to);
  void put_all_queued();
  bool put(Sending& sending);
  bool offer(Sending& sending, MessageHeader& shown);
  void post(Receiving& receiving, bool is_first);
  void match_again(Receiving& receiving);
  bool claim(const Arrived& message) const;
  void take_arrived();
  void take_from(int from);
  Receiving* wanting(int from, std::uint64_t tag) const;
  bool may_keep(int from, const MessageHeader& head);
  void keep(Arrived message);
  bool has_gone(int rank) const;

  // Returns the group ranks that may send what is received from `peer`; -1: any rank.
  std::vector<int> awaited(int peer) const;
  std::string kept_text(int peer) const;
  void end_wait(core::WaitEnd end, const PointToPoint& message, bool sends) const;
  void throw_if_broken(const PointToPoint& message) const;
  bool is_over() const noexcept { return area_->has_ended(group_.rank); }

  const std::shared_ptr<Area> area_;
  const GroupInfo group_;
  const Bells bells_;
  const PeerMemory memory_;
  DirectReads reads_;
  bool may_fetch_ = false;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::deque<Sending*>> queued_;  // by receiver, those that found the box full
  std::list<Receiving*> posted_;              // not matched yet
  std::list<Arrived> unwanted_;
  std::vector<Kept> kept_;  // by sender, its share of unwanted_
  MailBoxes boxes_;
};

}  // namespace distrun::collectives::shm
