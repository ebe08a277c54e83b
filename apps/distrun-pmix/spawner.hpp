#pragma once
// Starts the processes of MPI_Comm_spawn. They belong to the rank that has called it: they have its environment (with
// the tag by which the coordinator finds and ends them), its process group, its directory and its outputs. Among each
// other they are a world of MPI.
//
// libpmix calls request() on its own thread; everything else is called on the main thread, which does the work, since
// libpmix must not be waited for on its thread.
#include <pmix_server.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/mpi.hpp>

namespace distrun::pmix {

class Spawner {
 public:
  using Tell = std::function<void(const wire::Bytes& packed)>;
  // `tell` sends a frame to the coordinator. `order` must outlive this.
  Spawner(Tell tell, const wire::MpiOrder& order);
  // Becomes readable when there is something to do: call work().
  int fd() const noexcept { return event_.get(); }

  // Takes a request of PMIx_Spawn and answers it later. Thread-safe.
  pmix_status_t request(const pmix_proc_t& parent, const pmix_app_t apps[], std::size_t count,
                        pmix_spawn_cbfunc_t on_done, void* context);
  // Returns the first rank that has spawned the process, maybe through others, and the process's program; nothing for
  // a rank of the order. Thread-safe.
  struct Child {
    int rank = 0;
    std::string program;
  };
  std::optional<Child> child_of(const pmix_proc_t& process);

  // The coordinator has started the rank.
  void add_process(int rank, pid_t pid);
  // Starts what was requested, and reports processes that have failed. Call it at least once a second.
  void work();

 private:
  struct App {
    std::string program;
    std::vector<std::string> arguments, variables;
    std::string directory;  // empty: the parent's
    int count = 0;
  };
  struct Request {
    pmix_proc_t parent{};
    std::vector<App> apps;
    pmix_spawn_cbfunc_t on_done = nullptr;
    void* context = nullptr;
  };

  void serve(const Request& request);
  std::string start(const Request& request, int rank, std::vector<std::int32_t>& pids);
  pid_t start_process(const App& app, pid_t parent, const std::vector<std::string>& more);
  pid_t process_of(const pmix_proc_t& parent);
  void reap();

  const Tell tell_;
  const wire::MpiOrder& order_;
  base::Fd event_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Request> requests_;
  std::map<std::string, std::vector<Child>> worlds_;  // of spawned processes: by world and rank in it
  // Of the main thread.
  std::map<std::string, std::map<pmix_rank_t, pid_t>> pids_;  // by world
  std::map<pid_t, Child> running_;
  int worlds_begun_ = 0;
};

}  // namespace distrun::pmix
