#pragma once
// The memory of a group on several hosts, which share none: each rank has memory of its own with
// the layout of a group's, and all ranks show each other over TCP what they write into it. So exchanges and messages
// work there as in shared memory:
//
//   a rank ...                  and the others get
//   arrives at an exchange      its slot header, its parts and their bytes, its mark and `come`
//   leaves one                  `left`
//   sends a message             the message, with all its bytes, and `written`: its receiver only
//   takes messages              `taken`: their sender only
//   leaves the group, or blames its presence and why; the cause
//
// Frames of one rank arrive in order. A slot header, or a slot of a mail box, is used again only after the others have
// shown that they no longer read it. So what is in flight from a rank is bounded by the layout, except for the bytes of
// large messages, of which one at a time is in flight to each rank.
//
// A connection that ends before its rank has left means that the rank's process has ended or cannot be reached.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/collectives/shm/far_side.hpp>
#include <distrun/runtime/collectives/shm/mirror_meeting.hpp>

namespace distrun::collectives::shm {

class Area;

// The connections of one rank. Its thread writes what arrives into the area; the other functions may be called from any
// thread, and do not block. A rank to which something cannot be sent, for lack of memory, is cut off.
class Mirror final : public FarSide {
 public:
  // `area` must outlive this.
  Mirror(Area& area, const GroupInfo& group, std::vector<FarRank> ranks);
  // Sends what is left, for two seconds at most.
  ~Mirror() override;
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  void show_come(std::uint64_t exchange, int parts, std::size_t used) noexcept override;
  void show_left(std::uint64_t exchange) noexcept override;
  void show_message(int to, std::uint64_t written, ConstBytes outside) noexcept override;
  void show_taken(int from, std::uint64_t taken) noexcept override;
  void show_end(Presence how, std::string_view why) noexcept override;
  void show_cause(std::uint64_t cause) noexcept override;

  std::vector<std::byte> take_outside(int from, std::uint64_t written) override;
  bool has_lost(int rank) const noexcept override { return peers_[index(rank)]->is_lost.load(); }
  bool has_lost_any() const noexcept override { return has_lost_any_.load(); }
  int pid_of(int rank) const noexcept override { return peers_[index(rank)]->pid; }
  const std::string& host_of(int rank) const noexcept override { return peers_[index(rank)]->host; }

 private:
  struct Peer {
    int rank = -1;
    base::Fd socket;  // none for this rank
    std::string host;
    int pid = 0;
    std::atomic<bool> is_lost{false};
    // Only the thread uses these.
    std::vector<std::byte> in;
    bool is_over = false;
    std::mutex mutex;
    // Guarded by mutex.
    std::vector<std::byte> out;  // what the socket has not taken yet
    std::vector<std::vector<std::byte>> outside{kMessages};
  };

  static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  void send(Peer& peer, ConstBytes frame) noexcept;
  void send_all(ConstBytes frame) noexcept;
  static void flush(Peer& peer);
  void cut_off(Peer& peer) noexcept;
  void wake() const noexcept;

  void run() noexcept;
  void serve_until_stopped();
  bool is_flushed() const;
  void receive(Peer& peer);
  void take_frames(Peer& peer);
  void apply(Peer& peer, std::uint32_t kind, ConstBytes body);
  void apply_come(const Peer& peer, ConstBytes body);
  void apply_message(Peer& peer, ConstBytes body);
  void apply_end(const Peer& peer, ConstBytes body);
  void end(Peer& peer) noexcept;

  Area& area_;
  const int own_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by group rank
  std::atomic<bool> has_lost_any_{false};
  std::atomic<bool> is_stopped_{false};
  base::Fd wake_;
  std::optional<base::Thread> thread_;
};

}  // namespace distrun::collectives::shm
