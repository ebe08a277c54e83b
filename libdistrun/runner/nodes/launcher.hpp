#pragma once
// Starts a node on each host by an engine, watches that each joins in time, and ends what it has started. That a node
// has joined is for its user to tell. Lives on: its loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/io/loop.hpp>
#include <distrun/runner/nodes/engine.hpp>
#include <distrun/runner/nodes/engine_process.hpp>

namespace distrun::nodes {

class Launcher {
 public:
  struct Settings {
    Engine engine;
    std::vector<std::string> hosts;
    NodeProgram node;
    std::string secret;  // of the run, without a line break
    base::Nanoseconds join_timeout = std::chrono::seconds(30);
    base::Nanoseconds terminate_after = std::chrono::seconds(2);  // from end() to SIGTERM
    base::Nanoseconds kill_after = std::chrono::seconds(2);       // from there to SIGKILL
  };
  struct Failure {
    std::string host;
    std::string why;  // "node02 did not join within 30 s: ssh: connect to host node02 port 22: No route to host"
  };
  struct Handlers {
    // The nodes of these hosts will not come: their engine has ended before, or the time is over. Reports each host
    // once, and none that has joined.
    std::function<void(const std::vector<Failure>&)> on_failed;
    // Everything that was started has ended, after end().
    std::function<void()> on_ended;
    // An engine has ended, before end(): words_about() its hosts are complete. May be empty.
    std::function<void()> on_engine_ended{};
  };

  // Starts all engines. Handlers run on the loop, never in a call to this, and may destroy it. Throws Error{Failed} if
  // an engine cannot be started, with nothing left behind.
  Launcher(io::Loop& loop, Settings settings, Handlers handlers);
  // Kills what is left.
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // The host's node has joined: it is awaited no longer.
  void joined(const std::string& host);
  // The host's node is lost: it hears no order to end over its link.
  void lost(const std::string& host);
  // Returns whether the host's engine has ended.
  bool has_ended(const std::string& host) const;
  // Returns what the host's engine says: how it has ended, if it has, and the end of its output. Empty if there is
  // nothing. With Slurm it is the same for all hosts.
  std::string words_about(const std::string& host) const;
  // Returns the processes that were started and have not ended.
  std::vector<pid_t> pids() const;
  // Begins the end. Nodes that have joined have been asked to end over their links; engines that still run after
  // `terminate_after` get SIGTERM, and the nodes the end of their standard input. Engines without a joined node
  // get both at once. After `kill_after` all are killed. Idempotent.
  void end();
  bool has_ended() const;

 private:
  enum class Stage : std::uint8_t { Runs, Asked, Terminated, Killed };
  enum class HostState : std::uint8_t { Awaited, Joined, Failed, Lost };
  struct Host {
    std::string name;
    std::size_t engine;  // index in engines_
    HostState state = HostState::Awaited;
  };

  void start(const EngineCommand& command);
  void look();
  std::vector<Failure> take_failures();
  bool has_joined_host(std::size_t engine) const;
  static void terminate(EngineProcess& engine);
  void push_on();
  std::string why(const Host& host, bool is_late) const;
  std::string words_of(const EngineProcess& engine) const;

  io::Loop& loop_;
  const Settings settings_;
  Handlers handlers_;
  std::vector<Host> hosts_;
  Stage stage_ = Stage::Runs;
  base::TimePoint join_deadline_;
  io::Alarm attention_;  // an engine has ended: look() is due
  io::Alarm join_alarm_;
  io::Alarm end_alarm_;
  std::vector<std::unique_ptr<EngineProcess>> engines_;
};

}  // namespace distrun::nodes
