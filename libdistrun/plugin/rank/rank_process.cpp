#include <distrun/plugin/rank/rank_process.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/board/board.hpp>
#include <distrun/common/board/body_life.hpp>
#include <distrun/common/wire/skip_table.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/plugin/rank/binding.hpp>
#include <distrun/plugin/rank/crash_handler.hpp>
#include <distrun/plugin/rank/exit_call.hpp>
#include <distrun/plugin/rank/thread_owner.hpp>

namespace distrun::rank {
namespace {

int exit_code_of(std::int32_t result) {
  if (result == DISTRUN_OK) return 0;
  return result == DISTRUN_SKIPPED ? wire::find_skip("generic")->exit_code : wire::kTestErrorExitCode;
}

}  // namespace

void cannot_begin(ControlLine& line, std::int32_t rank, const Error& error) {
  wire::ErrorReport report;
  report.type = wire::kCannotBegin;
  report.text = std::string("cannot begin: ") + error.what();
  line.send(wire::ControlFrame::Error, rank, report);
  ::_exit(wire::kTestErrorExitCode);  // threads of other ranks may wait forever for their orders
}

// A rank of this process.
struct RankProcess::OwnRank {
  OwnRank(int board, int rank, int world_size)
      : seat(board, rank, world_size), inbox(rank, world_size, seat.writer, &seat.trace) {}

  board::Slot& slot() const { return *seat.board.own(); }

  Seat seat;
  Inbox inbox;
};

RankProcess::RankProcess(ControlLine& line, const base::Fd& board, const Plugin* plugin, std::string path,
                         const wire::RunOrder& first)
    : line_(line), plugin_(plugin), path_(std::move(path)) {
  const int begin = first.threads ? 0 : first.rank;
  const int end = first.threads ? first.world_size : first.rank + 1;
  for (int rank = begin; rank < end; ++rank) {
    places_.push_back(std::make_unique<OwnRank>(board.get(), rank, first.world_size));
  }
  install_crash_handler(places_.front()->slot().crash);
  set_exit_listener([](int) noexcept { record_exit(); });
}

RankProcess::~RankProcess() = default;

int RankProcess::run(wire::RunOrder first) {
  if (first.threads) return run_threads(std::move(first));
  try {
    bind_to(first.cpus);
    listen();
  } catch (const Error& error) {
    cannot_begin(line_, first.rank, error);
  }
  return serve(*places_.front(), std::move(first));
}

void RankProcess::listen() {
  std::vector<Inbox*> inboxes;
  for (const auto& place : places_) inboxes.push_back(&place->inbox);
  line_.start_listening(std::move(inboxes));
}

// Attributes the end of the process to the rank of the thread that caused it.
void RankProcess::share_process() {
  static RankProcess* shared = nullptr;
  shared = this;
  rank::share_process(static_cast<int>(places_.size()));
  std::vector<board::DumpArea*> areas;
  for (const auto& place : places_) areas.push_back(&place->slot().crash);
  install_crash_areas(std::move(areas));
  // Also called in processes that a test has forked. If a crash came first, the crash ends the process.
  set_exit_listener([](int code) noexcept {
    const int rank = owner_of_thread();
    if (rank < 0 || !shared->line_.is_ours() || has_crashed()) return;
    record_exit();
    if (!has_crashed()) shared->places_[static_cast<std::size_t>(rank)]->seat.writer.leave(code);
  });
  watch_sanitizer();
}

// No rank begins before all threads have started: a later one would count as left behind by a test.
int RankProcess::run_threads(wire::RunOrder first) {
  std::unique_lock all_there(loading_);
  sigset_t mask;  // so that a test finds the signals of a separate process
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  share_process();
  Inbox& of_first = places_[static_cast<std::size_t>(first.rank)]->inbox;
  of_first.put(std::move(first));
  std::vector<base::Thread> threads;
  const auto be_rank = [this, &mask](int rank, OwnRank& place) {
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    bind_thread(rank);
    { const std::lock_guard begin(loading_); }
    if (auto order = place.inbox.wait_for_order()) begin(place, std::move(*order));
  };
  try {
    for (int rank = 0; rank < static_cast<int>(places_.size()); ++rank) {
      OwnRank& place = *places_[static_cast<std::size_t>(rank)];
      threads.emplace_back(thread_name_of(rank), [&be_rank, &place, rank] { be_rank(rank, place); });
    }
    listen();
  } catch (const Error& error) {
    cannot_begin(line_, 0, error);
  }
  all_there.unlock();
  threads.clear();  // joins them
  return 0;         // each has reported its own result
}

void RankProcess::begin(OwnRank& place, wire::RunOrder order) {
  try {
    bind_to(order.cpus);
  } catch (const Error& error) {
    cannot_begin(line_, order.rank, error);
  }
  serve(place, std::move(order));
}

int RankProcess::serve(OwnRank& place, wire::RunOrder order) {
  place.seat.writer.attach();
  board::body_life(place.slot()).begin();
  for (bool first = true;; first = false) {
    const bool sets_up_suite = first && order.suite_code && order.stay;
    round_.begin(order, sets_up_suite);
    const std::int32_t result = run_test(place, order, looks_at_state(order, sets_up_suite));
    const bool stays = order.stay && (order.host == wire::HostWork::None || result == DISTRUN_OK);
    if (!stays) return exit_code_of(result);
    auto next = place.inbox.wait_for_order();
    if (!next) return exit_code_of(leave(place, order) == DISTRUN_OK ? result : DISTRUN_FAILED);
    order = std::move(*next);
  }
}

std::int32_t RankProcess::leave(OwnRank& place, const wire::RunOrder& last) {
  RankApi api(last, line_, place.inbox, place.seat);
  return plugin_ == nullptr ? DISTRUN_OK : plugin_->leave(api.line());
}

std::int32_t RankProcess::run_test(OwnRank& place, const wire::RunOrder& order, bool looks_at_state) {
  RankApi api(order, line_, place.inbox, place.seat);
  follow_trace(place.seat, order);
  const std::optional<OwnThread> thread = looks_at_state ? std::make_optional<OwnThread>() : std::nullopt;
  const std::int32_t result = call_plugin(order, api);
  Changes changes;
  if (thread) thread->put_back(changes);
  if (looks_at_state || !order.stay) tell_what_runs_on(api, changes);
  std::vector<wire::HeldName> held = round_.end(changes);
  for (const wire::LeakReport& each : changes.told) line_.send(wire::ControlFrame::Leak, order.rank, each);
  place.seat.writer.enter_phase(wire::Phase::Exit);
  if (order.stay) std::fflush(nullptr);  // so that a test's output belongs to that test
  // A rank that exits sends its result first: a hang after this (flushing into a full pipe that a test created) belongs
  // to the phase "exit".
  line_.send(wire::ControlFrame::Done, order.rank,
             wire::Done{result == DISTRUN_OK, api.checks(), api.suite_settings(), std::move(held), changes.used_up});
  return result;
}

// Reports code that still runs: it would work for the next test.
void RankProcess::tell_what_runs_on(RankApi& api, Changes& changes) {
  for (const std::string& each : api.running_on()) {
    changes.used_up = true;
    changes.told.push_back({.thread = true, .what = each, .state = true});
  }
}

// A rank without access to the trace runs without it.
void RankProcess::follow_trace(Seat& seat, const wire::RunOrder& order) {
  for (const wire::KeyValue& variable : order.env) {
    if (variable.key != trace::kVariable) continue;
    const int denied = seat.trace.follow(variable.value.c_str(), order.rank);
    if (denied == 0) return;
    line_.send(wire::ControlFrame::Note, order.rank, wire::Note{"no trace", base::errno_text(denied)});
  }
}

// The last test of a rank also ends the code around its tests.
std::int32_t RankProcess::call(const Plugin& loaded, const wire::RunOrder& order, const RankApi& api) {
  switch (order.host) {
    case wire::HostWork::SetUp: return loaded.set_up_host(order.suite, api.line());
    case wire::HostWork::TearDown: return loaded.tear_down_host(order.suite, api.line());
    case wire::HostWork::None: break;
  }
  const std::int32_t result = loaded.run(order.test_id, api.line());
  if (order.stay) return result;
  api.end_if_stray();
  const std::int32_t left = loaded.leave(api.line());
  return left == DISTRUN_OK ? result : left;
}

const Plugin& RankProcess::plugin(RankApi& api) {
  const std::lock_guard lock(loading_);
  if (plugin_ == nullptr) {
    api.enter_phase(wire::Phase::Load);
    plugin_ = &own_plugin_.emplace(path_);
  }
  return *plugin_;
}

std::int32_t RankProcess::call_plugin(const wire::RunOrder& order, RankApi& api) {
  std::int32_t result = DISTRUN_FAILED;
  try {
    const Plugin& loaded = plugin(api);
    if (order.debug) api.wait_for_debugger();
    result = call(loaded, order, api);
    api.end_if_stray();
  } catch (const Error& error) {
    api.end_if_stray();
    api.report(error.type(), error.what());
    return DISTRUN_FAILED;
  }
  if (result == DISTRUN_NOT_FOUND) {
    api.report("PluginError", "the plugin lists " + order.test_id + " but cannot find it when it must run");
  } else if (result != DISTRUN_OK && result != DISTRUN_FAILED && result != DISTRUN_SKIPPED) {
    api.report("PluginError",
               "the plugin's run function returned " + std::to_string(result) + ", which is not a valid code");
  }
  return result;
}

}  // namespace distrun::rank
