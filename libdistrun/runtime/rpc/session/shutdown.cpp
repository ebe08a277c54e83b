#include <exception>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/rpc/session/detail/session_state.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>
#include <distrun/runtime/rpc/session/session.hpp>

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kLinger = 500ms;      // for messages sent before the rank leaves
constexpr base::Nanoseconds kLastLinger = 100ms;  // the same at the end of its test

struct Graceful {
  Session& session;
  double timeout;
  base::TimePoint begin;
  base::TimePoint deadline;
  base::Location site;
};

// Waits only until this worker is quiet: members that stay do not wait for those that leave.
void leave_elastic(const Graceful& shutdown) {
  Calls& calls = *shutdown.session.calls;
  if (!calls.wait_quiet(shutdown.deadline, shutdown.site)) {
    const CallCounts counts = calls.counts();
    throw Error(ErrorKind::Timeout,
                "shutdown: after " + base::human(shutdown.deadline - shutdown.begin) + " still missing: " +
                    std::to_string(counts.running) + " calls running here, " + std::to_string(counts.waiting) +
                    " waiting, " + std::to_string(counts.handlers) + " handlers running",
                shutdown.site);
  }
}

void shut_down(const Graceful& shutdown) {
  Session& session = shutdown.session;
  const SessionHooks hooks = session_state_of(session.rank).hooks();
  if (session.elastic == nullptr) {
    if (hooks.wait_all_workers) {
      hooks.wait_all_workers(shutdown.timeout);
    } else if (session.calls != nullptr) {
      wait_all_workers(shutdown.timeout, shutdown.site);
    }
  }
  if (hooks.delete_references) {
    hooks.delete_references();
  } else {
    for (const auto& each : session.parts) each->settle(shutdown.deadline, shutdown.site);
  }
  for (const auto& each : session.parts) each->look();
  if (session.calls == nullptr) return;
  if (session.elastic != nullptr) return leave_elastic(shutdown);
  session.termination.run(*session.calls, shutdown.begin, shutdown.deadline, shutdown.site);
}

// Announces the departure; members can also detect it by themselves.
void leave_group(Session& session) noexcept {
  if (session.elastic == nullptr) return;
  session.calls != nullptr ? session.elastic->leave(*session.calls) : session.elastic->leave_silently();
}

// Returns the rank that caused an error; -1: unknown.
int cause_of(const std::exception_ptr& failed) noexcept {
  try {
    std::rethrow_exception(failed);
  } catch (const Error& error) {
    return error.because_of();
  } catch (...) {
    return -1;
  }
}

Error over(const char* why) noexcept {
  return base::if_memory([&] { return Error(ErrorKind::Disconnected, why); },
                         [] { return base::out_of_memory(ErrorKind::Disconnected); });
}

// A handler that waited until no handler runs would wait for itself.
void refuse_in_handler(base::Location site) {
  const future::TaskInfo* const task = future::HandlerPool::current();
  if (task == nullptr) return;
  throw Error(ErrorKind::Failed,
              "a graceful shutdown waits until no handler of this worker runs, and was called by one (" +
                  describe(*task) +
                  "): call it on the thread that runs the test, or leave at once with shutdown({.graceful = false})",
              site);
}

}  // namespace

void shutdown(const ShutdownOptions& options, base::Location site) {
  core::refuse_in_inline_function("ends the session", site);
  const std::shared_ptr<Session> session = session_state().get();
  if (options.graceful) refuse_in_handler(site);
  if (session->is_ending.exchange(true)) {
    throw Error(ErrorKind::Failed, "RPC is being shut down by another thread of the rank", site);
  }
  const base::TimePoint begin = base::system_clock().now();
  const base::TimePoint deadline =
      options.timeout > 0 ? base::deadline_after(base::nanoseconds_of(options.timeout), begin) : core::kForever;
  std::exception_ptr failed;
  if (options.graceful) {
    try {
      shut_down({*session, options.timeout, begin, deadline, site});
    } catch (...) {
      failed = std::current_exception();
      base::if_memory([&] {
        session->agent->set_end("its shutdown has failed: " + std::string(future::describe_error(failed)),
                                cause_of(failed));
      });
    }
    leave_group(*session);
  } else if (session->elastic != nullptr) {
    session->elastic->leave_silently();
  }
  session->close(over("RPC was shut down while the call was waiting"), kLinger);
  if (failed) std::rethrow_exception(failed);
  if (!options.graceful || options.ignore_leaks) return;
  for (const auto& each : session->parts) each->check();
}

namespace {

// Tells the peers of the loss that the session has seen.
void tell_first_lost(Session& session) {
  if (const auto lost = session.termination.first_lost()) {
    session.agent->set_end("its test has ended, after " + lost->text(), lost->because_of());
  }
}

}  // namespace

bool end_session(core::RankState& rank) noexcept {
  SessionState* const found =
      base::if_memory([&] { return &session_state_of(rank); }, []() -> SessionState* { return nullptr; });
  if (found == nullptr) return true;  // none was made
  SessionState& state = *found;
  if (state.is_inherited() || state.is_kept()) return false;
  if (const std::shared_ptr<Session> session = state.find()) {
    if (!session->is_ending.exchange(true)) {
      base::if_memory([&] { tell_first_lost(*session); });
      session->close(over("the test has ended"), kLastLinger);
    }
  }
  state.forget();
  return true;
}

void keep_session(core::RankState& rank) { session_state_of(rank).keep(); }
void release_session(core::RankState& rank) { session_state_of(rank).release(); }

}  // namespace distrun::rpc
