#pragma once
// Fills distrun_rank, which a plugin's run() gets, with functions that use the control line.
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/plugin/rank/absent.hpp>
#include <distrun/plugin/rank/control_line.hpp>
#include <distrun/plugin/rank/seat.hpp>

namespace distrun::rank {

class RankApi {
 public:
  // All arguments must outlive it.
  RankApi(const wire::RunOrder& order, ControlLine& line, Inbox& inbox, Seat& seat);
  RankApi(const RankApi&) = delete;
  RankApi& operator=(const RankApi&) = delete;

  const distrun_rank& line() const noexcept { return api_; }
  std::uint64_t checks() const noexcept { return checks_; }
  // Returns the texts passed to runs_on(): code of the test that still runs.
  std::vector<std::string> running_on();
  // Returns the settings that a host has set so far.
  std::vector<wire::KeyValue> suite_settings();

  // Reports the phase to the coordinator and on the board.
  void enter_phase(wire::Phase phase);
  // Blocks until a debugger has attached, has ended, or has not attached within a minute.
  void wait_for_debugger();
  // Does not return in a process that a test has forked and that came back from the body as if it were the rank.
  void end_if_stray() const;
  // Reports an error of the rank's own code.
  void report(const std::string& type, const std::string& text);

 private:
  static RankApi& of(void* self) { return *static_cast<RankApi*>(self); }
  static void phase(void* self, std::int32_t phase);
  static void error(void* self, const distrun_error* error);
  static void runs_on(void* self, distrun_string what);
  static void skip(void* self, std::int32_t code, distrun_string reason);
  static void note(void* self, distrun_string key, distrun_string value);
  static void measure(void* self, distrun_string name, double value, distrun_string unit);
  static void checks(void* self, std::uint64_t count);
  static void site(void* self, const char* file, std::uint32_t line);
  static std::int32_t bind(void* self);
  static void unbind(std::int32_t before);
  static void explain_faults(void* self, std::size_t (*explain)(const void*, char*, std::size_t));
  static void on_peer_failed(void* self, void (*failed)(void* context, std::int32_t because_of, distrun_string why),
                             void* context);
  static void on_peer_died(void* self, void (*died)(void* context, std::int32_t rank), void* context);
  static std::int32_t set(void* self, distrun_string key, distrun_string value);
  static std::int32_t barrier(void* self, distrun_string name, std::int64_t timeout_ms, distrun_sink why, void* context,
                              std::int32_t* because_of);
  static std::int32_t send(void* self, std::int32_t to, distrun_string tag, const void* data, std::size_t size);
  static std::int32_t receive(void* self, std::int32_t* from, distrun_string tag, std::int64_t timeout_ms,
                              distrun_sink message, distrun_sink why, void* context, std::int32_t* because_of);

  template <class T>
  void tell(wire::ControlFrame kind, const T& message) {
    line_.send(kind, order_.rank, message);
  }
  void fill_in_suite();
  Coming come_to(const std::string& barrier);
  std::int32_t answer(const Waited& waited, distrun_sink why, void* context, std::int32_t* because_of);

  const wire::RunOrder& order_;
  ControlLine& line_;
  Inbox& inbox_;
  Seat& seat_;
  std::string worker_name_;
  std::atomic<std::uint64_t> checks_{0};
  std::atomic<std::int32_t> noticed_{-1};    // the rank that a failed wait here has blamed
  std::vector<distrun_key_value> settings_;  // of the suite, as passed to the plugin
  std::mutex setting_;
  std::map<std::string, std::string> set_;  // guarded by setting_; by the host
  std::mutex ending_;
  std::vector<std::string> running_on_;  // guarded by ending_
  const base::TimePoint began_ = base::system_clock().now();
  std::mutex coming_;
  std::map<std::string, std::uint64_t> rounds_;  // guarded by coming_; by barrier
  distrun_rank api_{};
};

}  // namespace distrun::rank
