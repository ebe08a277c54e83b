#pragma once
// A profile of all that a rank does for others, for any caller and in any thread. Created locally, or by reference:
//
//   const auto profile = remote<rpc::ServerProcessGlobalProfile>("worker1", "ServerProcessGlobalProfile");
//   profile.rpc_sync().call("enter");
//   rpc_sync("worker1", "add", a, b);
//   profile.rpc_sync().call("exit");
//   std::cout << profile.rpc_sync().call<std::string>("key_averages");   // the table
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/profiler/averages.hpp>
#include <distrun/runtime/profiler/options.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::rpc {

// The events of such a profile. Thread-safe.
class ServerEvents {
 public:
  explicit ServerEvents(const profiler::ProfileOptions& options) : options_(options) {}  // without events

  const profiler::ProfileOptions& options() const noexcept { return options_; }  // as passed to the constructor
  // Adds the events of an answered call.
  void add(const profiler::Events& events);
  // Returns a separate tree for each thread; events beyond the limit are dropped.
  std::vector<profiler::Events> by_thread() const;

 private:
  const profiler::ProfileOptions options_;
  mutable std::mutex mutex_;
  profiler::Events events_;  // guarded by mutex_
};

// Returns whether any rank of the process has an active one.
bool is_server_profiled() noexcept;
// Returns the active ones, the outermost first.
std::vector<std::shared_ptr<ServerEvents>> server_profiles_of(const core::RankState& rank);

// Thread-safe. Several may be active, nested or not: each records the calls that begin while it is active.
class ServerProcessGlobalProfile {
 public:
  // Records nothing before enter().
  explicit ServerProcessGlobalProfile(const profiler::ProfileOptions& options = {});
  ~ServerProcessGlobalProfile() { leave(); }
  ServerProcessGlobalProfile(const ServerProcessGlobalProfile&) = delete;
  ServerProcessGlobalProfile& operator=(const ServerProcessGlobalProfile&) = delete;

  // Activates it on the calling rank. Has no effect if it is active.
  void enter();
  void leave() noexcept;  // "exit" for callers by reference

  // Returns the events of each thread that has served calls, in the order in which they began.
  std::vector<profiler::Events> process_global_function_events() const { return events_->by_thread(); }
  // Returns profiler::key_averages() of all threads.
  profiler::Averages key_averages(profiler::GroupBy group = {}) const;
  // Returns the same as a table.
  std::string table() const { return profiler::table(key_averages()); }

 private:
  const std::shared_ptr<ServerEvents> events_;
};

}  // namespace distrun::rpc
