#pragma once
// Gives the ranks of a program a world of MPI: starts distrun-pmix, a PMIx server, and follows what the ranks do there.
// That is a process of its own, since libpmix brings threads, sockets and much other code that the coordinator must not
// depend on; nothing that it sends is trusted, and it may crash. It ends with this object or with the coordinator.
// Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/io/frame_socket.hpp>
#include <distrun/common/io/one_shot.hpp>
#include <distrun/common/wire/mpi.hpp>
#include <distrun/runner/launch/helper_process.hpp>

namespace distrun::mpi {

// Where a rank is in the life of its MPI, as the server has seen it.
enum class Stage : std::uint8_t {
  Outside,  // it has not called MPI_Init
  Joined,
  Left,  // it has ended MPI_Finalize
};

struct Member {
  Stage stage = Stage::Outside;
  base::TimePoint since{};  // of the stage, but Outside
};

// What an attempt needs to know at once.
class ServerEvents {
 public:
  // The rank, or the process `child` that it has spawned ("./worker"), has called MPI_Abort, and is about to end.
  virtual void on_abort(int rank, int code, const std::string& child) = 0;
  // The rank has started processes by MPI_Comm_spawn, or was refused with `error`.
  virtual void on_spawned(int rank, const std::string& program, const std::vector<int>& pids,
                          const std::string& error) = 0;
  // A process that the rank has spawned has failed.
  virtual void on_child_died(int rank, const std::string& program, proc::ExitStatus status) = 0;
  // The rank has called what the server cannot do, such as "MPI_Comm_spawn": the call returns an error.
  virtual void on_refusal(int rank, const std::string& call) = 0;
  // The server has ended before the ranks. `why` is a sentence.
  virtual void on_server_lost(const std::string& why) = 0;

 protected:
  ~ServerEvents() = default;
};

class Server {
 public:
  struct Program {
    std::string path;  // of distrun-pmix
    std::vector<std::string> environment;
  };

  // Starts the server. Throws Error{Failed} if that is impossible.
  Server(io::Loop& loop, const Program& program, const wire::MpiOrder& order);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  pid_t pid() const noexcept { return process_.pid(); }
  // Completes when ranks may start, or with a sentence that says why there is no world. Call once.
  io::Task<std::string> ready(base::Nanoseconds bound);

  // Returns what the rank needs in its environment. Requires a server that is ready.
  const std::vector<std::string>& variables_of(int rank) const;
  int size() const noexcept { return static_cast<int>(members_.size()); }
  const Member& member(int rank) const { return members_.at(static_cast<std::size_t>(rank)); }
  // Returns whether any rank has ever joined.
  bool has_joined() const noexcept { return has_joined_; }

  // Reports events from now on; null: no more. Events come from the loop, or from inside drain().
  void report_to(ServerEvents* events) noexcept { events_ = events; }
  // Says which process the rank is; processes that it spawns begin as it has.
  void add_process(int rank, int pid);
  // Handles what has already arrived: a rank's death may be seen before the reason that the server has sent for it.
  void drain();

 private:
  Server(io::Loop& loop, const Program& program, const wire::MpiOrder& order, base::FdPair line);
  void on_frame(const wire::Frame& frame);
  void handle(const wire::Frame& frame);
  void tell(int rank, const wire::Frame& frame);
  void take(wire::MpiReady ready);
  void enter(int rank, Stage stage);
  void on_closed(const std::string& why);
  void on_ended(proc::ExitStatus status);
  void lose(std::string why);

  io::Loop& loop_;
  std::vector<Member> members_;  // by rank, as the next
  std::vector<wire::RankVariables> variables_;
  ServerEvents* events_ = nullptr;
  bool has_joined_ = false;
  bool is_lost_ = false;
  io::OneShot<std::string> ready_;
  launch::HelperProcess process_;
  std::unique_ptr<io::FrameSocket> socket_;
};

}  // namespace distrun::mpi
