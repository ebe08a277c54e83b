#pragma once
// The process of one rank, or of all ranks of a world as its threads. It executes orders, one test each, until there is
// no further one:
//
//   order -> [load] -> test -> done --> exit, if the order was for one test
//     ^                         `-----> wait, if the rank is persistent (pool and threads) --> exit, when dismissed
//     `-----------------------------------'
//
// A rank that is a thread has its own board slot, inbox and crash area; it shares standard output, the environment and
// open descriptors.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/plugin/rank/control_line.hpp>
#include <distrun/plugin/rank/plugin.hpp>
#include <distrun/plugin/rank/rank_api.hpp>
#include <distrun/plugin/rank/round.hpp>

namespace distrun::rank {

// Reports that the machine denies what a rank needs before its test, and ends the process. The test has not failed.
[[noreturn]] void cannot_begin(ControlLine& line, std::int32_t rank, const Error& error);

class RankProcess {
 public:
  // `first` names the ranks of this process. If `plugin` is null, the process loads `path` itself. Main thread only.
  // Throws Error{Failed} if `board` is invalid.
  RankProcess(ControlLine& line, const base::Fd& board, const Plugin* plugin, std::string path,
              const wire::RunOrder& first);
  ~RankProcess();

  // Runs until the last order. Returns the exit code.
  int run(wire::RunOrder first);

 private:
  struct OwnRank;

  int run_threads(wire::RunOrder first);
  void share_process();
  void listen();
  // Serves as a rank of several in this process, in its own thread.
  void begin(OwnRank& place, wire::RunOrder order);
  int serve(OwnRank& place, wire::RunOrder order);
  void tell_what_runs_on(RankApi& api, Changes& changes);
  std::int32_t run_test(OwnRank& place, const wire::RunOrder& order, bool looks_at_state);
  void follow_trace(Seat& seat, const wire::RunOrder& order);
  std::int32_t call_plugin(const wire::RunOrder& order, RankApi& api);
  std::int32_t call(const Plugin& loaded, const wire::RunOrder& order, const RankApi& api);
  // Notifies the plugin that a persistent rank gets no further test.
  std::int32_t leave(OwnRank& place, const wire::RunOrder& last);
  // Loads it on first use. Throws Error that says what is wrong with it.
  const Plugin& plugin(RankApi& api);

  ControlLine& line_;
  std::mutex loading_;
  const Plugin* plugin_;  // guarded by loading_
  std::optional<Plugin> own_plugin_;
  std::string path_;
  std::vector<std::unique_ptr<OwnRank>> places_;  // one for each rank of this process
  Round round_;
};

}  // namespace distrun::rank
