#pragma once
// The store of the ranks of one world on several hosts: a socket at which this process listens, and, once the first
// rank connects, a process that serves it. So a world that uses no store costs a socket, and one that fills its store
// does not delay the coordinator. Lives on: the coordinator's loop.
#include <sys/types.h>

#include <memory>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/io/fd_watch.hpp>

namespace distrun::nodes {

class WorldStore {
 public:
  // `address` is numeric, one of this host's. Call while the process has one thread. Throws Error{Failed}.
  WorldStore(io::Loop& loop, const std::string& address, std::string secret);
  // Ends the server: clients get Error{Disconnected}.
  ~WorldStore();
  WorldStore(const WorldStore&) = delete;
  WorldStore& operator=(const WorldStore&) = delete;

  // "tcp://10.0.0.1:4000"
  const std::string& url() const noexcept { return url_; }

 private:
  void begin_to_serve();

  const std::string secret_;
  std::string url_;
  std::unique_ptr<io::FdWatch> listener_;  // until a process serves
  base::Fd lifeline_;                      // that process ends when this closes
  pid_t server_ = 0;
};

}  // namespace distrun::nodes
