#pragma once
// The daemon: takes runs from clients, starts a distrun for each when its turn has come, and tells its client how it
// gets on. It coordinates nothing itself, waits for nobody, and a client that is slow, dead or hostile costs the others
// nothing: output goes from the run to the client's own descriptors, and each connection is bounded (session.hpp).
// Lives on: its loop.
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <distrun/runner/daemon/runs.hpp>
#include <distrun/runner/daemon/session.hpp>

namespace distrun::daemon {

struct ServerOptions {
  std::string program;  // distrun's path
  std::string version;
  RunQueue::Limits limits;
  int connections_max = 200;      // fewer where the limit of open files is low
  base::Nanoseconds idle_exit{};  // ends when there was nothing to do for so long; 0: never
  Log log{};                      // silent, unless somebody wants it
};

class Server {
 public:
  // `listener` is nonblocking. `on_over` is called once, when stop() has ended every run.
  Server(io::Loop& loop, base::Fd listener, ServerOptions options, std::function<void()> on_over);
  ~Server();

  // Takes no client any more, and ends every run politely; called again, with less patience.
  void stop();

 private:
  void on_connection();
  void refuse_connection(base::Fd socket);
  void shed_connection();
  void submit(int client, wire::Submission order, std::vector<base::Fd> descriptors);
  void on_closed(int client);
  void on_run_ended(int client, const wire::RunEnded& ended);
  void on_idle_time();
  void end_if_over();
  wire::DaemonStatus status() const;
  template <class T>
  void send(int client, wire::DaemonFrame kind, const T& message);

  struct Client {
    std::unique_ptr<Session> session;
    std::string run_id;  // that it has brought, and that has not ended; empty: none
  };
  io::Loop& loop_;
  ServerOptions options_;
  std::function<void()> on_over_;
  base::TimePoint started_;
  base::TimePoint busy_until_;
  bool stopping_ = false;
  std::map<int, Client> clients_;  // by a number of their own
  int next_client_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what comes later
  Runs runs_;
  io::Alarm idle_;
  base::Fd spare_;  // see shed_connection()
  std::unique_ptr<io::FdWatch> listener_;
};

}  // namespace distrun::daemon
