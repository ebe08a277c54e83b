#pragma once
// Creates worlds of MPI: one for the ranks of a program, or one for each attempt of a test that needs it. Lives on: the
// coordinator's loop.
#include <memory>
#include <string>

#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/mpi/server.hpp>
#include <distrun/runner/proc/run_files.hpp>

namespace distrun::mpi {

// The server of one world, and its directories, which are removed with it.
class World {
 public:
  World(io::Loop& loop, const Server::Program& program, const wire::MpiOrder& order);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Server& server() noexcept { return *server_; }

 private:
  const std::string directory_, shared_;
  std::unique_ptr<Server> server_;
};

class Worlds {
 public:
  // `node` must outlive this: the servers are children of this process that belong to no rank.
  Worlds(io::Loop& loop, launch::Node& node, proc::RunPlaces places);

  // Returns why no world can be created: "distrun-pmix is not there (install ...)"; empty: it can.
  static std::string why_none();

  struct Needs {
    int ranks = 0;
    bool is_crowded = false;       // there are more ranks than CPUs: those that wait must not spin
    bool may_spawn = false;        // the ranks' processes have all of their environment from the start
    bool has_private_shm = false;  // the ranks do not see this process's /dev/shm
  };
  // Starts the server of a new world. Ranks may start when Server::ready() says so. Throws Error{Failed}.
  std::unique_ptr<World> start(const Needs& needs);

 private:
  std::string make_directory(const std::string& name) const;
  std::string shared_directory(const std::string& name) const;

  io::Loop& loop_;
  launch::Node& node_;
  const proc::RunPlaces places_;
  int started_ = 0;
};

// How long a server may take until it is ready; usually a tenth of a second.
inline constexpr base::Nanoseconds kReadyBound = std::chrono::seconds(60);

}  // namespace distrun::mpi
