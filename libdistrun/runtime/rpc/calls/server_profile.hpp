#pragma once
// A profile of all that a rank does for others, whoever asks, in whatever thread. As an object of its own worker, or by
// reference from another:
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

// What such a profile has heard of. Any thread.
class ServerEvents {
 public:
  explicit ServerEvents(const profiler::ProfileOptions& options) : options_(options) {}

  const profiler::ProfileOptions& options() const noexcept { return options_; }
  // Of a call that has been answered.
  void add(const profiler::Events& events);
  // As trees of their own; beyond the limit there are none.
  std::vector<profiler::Events> by_thread() const;

 private:
  const profiler::ProfileOptions options_;
  mutable std::mutex mutex_;
  profiler::Events events_;  // guarded by mutex_
};

// Whether any rank of the process has one that is on.
bool is_server_profiled() noexcept;
// Those that are on, the outermost first.
std::vector<std::shared_ptr<ServerEvents>> server_profiles_of(const core::RankState& rank);

// Any thread. Several may be on, within each other or not: each hears of calls that begin while it is on.
class ServerProcessGlobalProfile {
 public:
  explicit ServerProcessGlobalProfile(const profiler::ProfileOptions& options = {});
  ~ServerProcessGlobalProfile() { leave(); }
  ServerProcessGlobalProfile(const ServerProcessGlobalProfile&) = delete;
  ServerProcessGlobalProfile& operator=(const ServerProcessGlobalProfile&) = delete;

  // Of the rank that it is called on. More than once is once.
  void enter();
  void leave() noexcept;  // "exit" to those who call it by reference

  // For each thread that has served, what it did, in the order in which it began.
  std::vector<profiler::Events> process_global_function_events() const { return events_->by_thread(); }
  profiler::Averages key_averages(profiler::GroupBy group = {}) const;
  // The same as a table.
  std::string table() const { return profiler::table(key_averages()); }

 private:
  const std::shared_ptr<ServerEvents> events_;
};

}  // namespace distrun::rpc
