#pragma once
// The ranks of one attempt on this machine. Lives on: the coordinator's loop.
//
// A rank: made (descriptors) -> started (pid known) -> ended (reaped). Its connection may be lost before
// it ends.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/io/frame_socket.hpp>
#include <distrun/launch/node.hpp>
#include <distrun/launch/output_pipe.hpp>

namespace distrun::launch {

// A rank's ends of its descriptors, to be handed over and closed here.
struct RankEnds {
  base::Fd control;
  base::Fd out;
  base::Fd err;
};

class LocalWorld final : public World {
 public:
  // `is_foreign` tells children of this process that are not this world's to end.
  LocalWorld(io::Loop& loop, WorldEvents& events, int world_size, std::size_t output_cap, std::uint64_t tag,
             std::function<bool(pid_t)> is_foreign);
  ~LocalWorld() override;

  std::uint64_t tag() const noexcept { return tag_; }
  bool owns(pid_t pid) const noexcept;
  // Descriptors for the next rank.
  RankEnds make_rank();
  // The rank runs. Tells the events.
  void started(int rank, pid_t pid);
  void spawn_failed(const std::string& why);

  void send(int rank, wire::Bytes packed) override;
  void signal(int rank, int signal) override;
  proc::Captured standard_output(int rank) const override;
  proc::Captured standard_error(int rank) const override;
  void finish_output() override;
  std::vector<std::string> leftovers() override;
  int end_leftovers() override;

 private:
  struct Member {
    pid_t pid = 0;
    bool ended = false;
    base::Fd connection;                      // until the rank is started
    std::unique_ptr<io::FrameSocket> socket;  // from then on
    std::unique_ptr<OutputPipe> out;
    std::unique_ptr<OutputPipe> err;
    std::unique_ptr<io::FdWatch> death;
  };
  Member& at(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  const Member& at(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  void on_death(int rank);
  bool is_leftover(pid_t pid) const;

  io::Loop& loop_;
  WorldEvents& events_;
  std::size_t output_cap_;
  std::uint64_t tag_;
  std::function<bool(pid_t)> is_foreign_;
  std::vector<Member> members_;
  int made_ = 0;
};

}  // namespace distrun::launch
