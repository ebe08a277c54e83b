#pragma once
// The process of one rank, or of all ranks of a world as its threads. It takes orders, a test each, until there is no
// further one:
//
//   order -> [load] -> test -> done --> end, if the order was for one test
//     ^                         `-----> wait, if the rank stays (isolation pool and threads) --> end, when dismissed
//     `-----------------------------------'
//
// A rank that is a thread has a slot on the board, an inbox and an area for its crash of its own; it shares standard
// output, the environment and what it leaves open.
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

// Tells that the machine denies what a rank needs before its test, and ends the process. That is no failure of the
// test's.
[[noreturn]] void cannot_begin(ControlLine& line, std::int32_t rank, const Error& error);

class RankProcess {
 public:
  // `first` says which ranks are here. `plugin` is null for a process that loads `path` itself. Main thread.
  // Throws Error{Failed} if `board` is none.
  RankProcess(ControlLine& line, const base::Fd& board, const Plugin* plugin, std::string path,
              const wire::RunOrder& first);
  ~RankProcess();

  // To the end of all orders; the exit code.
  int run(wire::RunOrder first);

 private:
  struct OwnRank;

  int run_threads(wire::RunOrder first);
  void share_process();
  void listen();
  int serve(OwnRank& place, wire::RunOrder order);
  void tell_what_runs_on(RankApi& api, Changes& changes);
  std::int32_t run_test(OwnRank& place, const wire::RunOrder& order, bool looks_at_state);
  void follow_trace(Seat& seat, const wire::RunOrder& order);
  std::int32_t call_plugin(const wire::RunOrder& order, RankApi& api);
  std::int32_t call(const Plugin& loaded, const wire::RunOrder& order, const RankApi& api);
  // No further test comes to a rank that has stayed.
  std::int32_t leave(OwnRank& place, const wire::RunOrder& last);
  // Loads it if nobody has. Throws Error that says what is wrong with it.
  const Plugin& plugin(RankApi& api);

  ControlLine& line_;
  std::mutex loading_;
  const Plugin* plugin_;  // guarded by loading_
  std::optional<Plugin> own_plugin_;
  std::string path_;
  std::vector<std::unique_ptr<OwnRank>> places_;  // of each rank that is here
  Round round_;
};

}  // namespace distrun::rank
