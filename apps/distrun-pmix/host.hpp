#pragma once
// The part of a resource manager that libpmix asks when ranks want something: it reports to the coordinator what they
// do, and keeps what they publish. libpmix calls it on its own thread.
#include <pmix_server.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include <distrun/common/wire/frame_line.hpp>
#include <distrun/common/wire/mpi.hpp>

#include "published.hpp"
#include "spawner.hpp"

namespace distrun::pmix {

class Host {
 public:
  // The callbacks of libpmix have no context, so there is one host. `line` must outlive the process's use of libpmix.
  explicit Host(wire::FrameLine& line);

  // The functions that libpmix calls.
  pmix_server_module_t module() const;
  // Sends a frame. Thread-safe; if the coordinator is gone, this process is about to end.
  template <class T>
  void tell(wire::MpiFrame kind, pmix_rank_t rank, const T& message) {
    send(wire::pack(kind, static_cast<std::uint16_t>(rank), message));
  }
  void tell(wire::MpiFrame kind, pmix_rank_t rank) {
    send(wire::pack_frame(kind, static_cast<std::uint16_t>(rank), {}));
  }
  void send(const wire::Bytes& packed);
  Published& published() noexcept { return published_; }
  // Ranks may spawn processes from now on; `spawner` must outlive the process's use of libpmix.
  void spawn_by(Spawner& spawner) noexcept { spawner_ = &spawner; }
  Spawner* spawner() const noexcept { return spawner_; }
  std::optional<Spawner::Child> child_of(const pmix_proc_t& process) const {
    return spawner() != nullptr ? spawner()->child_of(process) : std::nullopt;
  }
  void end_late_lookups() { published_.end_late_lookups(); }
  // Returns a number for a group that no other group of this job has.
  std::size_t next_group() { return ++groups_; }

 private:
  wire::FrameLine& line_;
  std::mutex mutex_;  // of line_
  Published published_;
  std::atomic<Spawner*> spawner_{nullptr};
  std::atomic<std::size_t> groups_{0};
};

}  // namespace distrun::pmix
