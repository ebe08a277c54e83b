#pragma once
// The daemon: takes runs from clients, starts a distrun for each in its turn, and reports progress to its client. It
// coordinates nothing itself and never waits. A slow, dead or hostile client does not affect others: output goes from
// the run directly to the client's descriptors, and each connection is bounded (session.hpp). Lives on: its loop.
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <distrun/runner/daemon/runs.hpp>
#include <distrun/runner/daemon/session.hpp>

namespace distrun::daemon {

struct ServerOptions {
  std::string program;  // path of distrun
  std::string version;
  RunQueue::Limits limits;
  int connections_max = 200;      // fewer if the limit of open files is low
  base::Nanoseconds idle_exit{};  // exits after this time without work; 0: never
  Log log{};                      // silent by default
};

class Server {
 public:
  // `listener` must be nonblocking. Calls `on_over` once, when stop() has ended every run.
  Server(io::Loop& loop, base::Fd listener, ServerOptions options, std::function<void()> on_over);
  ~Server();

  // Accepts no more clients and ends every run politely; another call takes the next step at once.
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
    std::string run_id;  // the run that it submitted, until it has ended; empty: none
  };
  io::Loop& loop_;
  ServerOptions options_;
  std::function<void()> on_over_;
  base::TimePoint started_;
  base::TimePoint busy_until_;
  bool stopping_ = false;
  std::map<int, Client> clients_;  // by a private number
  int next_client_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // guards posted callbacks
  Runs runs_;
  io::Alarm idle_;
  base::Fd spare_;  // see shed_connection()
  std::unique_ptr<io::FdWatch> listener_;
};

}  // namespace distrun::daemon
