#include <distrun/plugin/sdk/context.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <distrun/plugin/sdk/detail/runtime.h>
#include <distrun/common/base/message_limit.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/wire/skip_table.hpp>
#include <distrun/plugin/sdk/detail/string.hpp>
#include <distrun/plugin/sdk/options.hpp>

namespace distrun {
namespace {

using detail::lend;
using detail::view;

constexpr std::string_view kReceives = "waits for a message";

// The result of a wait: bytes on success, else the error and the rank that caused it.
struct Reply {
  std::string data;
  std::string why;
  int because_of = -1;
};

void take_data(void* reply, const void* data, std::size_t size) noexcept {
  static_cast<Reply*>(reply)->data.assign(static_cast<const char*>(data), size);
}

void take_why(void* reply, const void* data, std::size_t size) noexcept {
  static_cast<Reply*>(reply)->why.assign(static_cast<const char*>(data), size);
}

std::int64_t bound_ms(std::chrono::milliseconds timeout) noexcept {
  return std::max<std::int64_t>(timeout.count(), -1);
}

void throw_unless_ok(std::int32_t code, const Reply& reply, const std::string& doing, base::Location where) {
  const std::string text = reply.why.empty() ? doing : doing + ": " + reply.why;
  switch (code) {
    case DISTRUN_OK: return;
    case DISTRUN_PEER_FAILED: throw PeerFailed(text, reply.because_of, where);
    case DISTRUN_TIMEOUT: throw Error(ErrorKind::Timeout, "TimeoutError", text, where);
    case DISTRUN_INVALID: throw Error(ErrorKind::InvalidArgument, text, where);
    case DISTRUN_DISCONNECTED: throw Error(ErrorKind::Disconnected, doing + ": the coordinator is gone", where);
    default: throw Error(ErrorKind::Failed, text + " (code " + std::to_string(code) + ")", where);
  }
}

// An older distrun lacks this function.
void tell_site(const distrun_rank& line, base::Location where) {
  constexpr std::size_t kEnd = offsetof(distrun_rank, site) + sizeof(line.site);
  if (line.size >= kEnd && line.site != nullptr) line.site(line.self, where.file, where.line);
}

// Throws Error{Failed} on a thread of the runtime that must not wait for other ranks.
void refuse_where_none_may_wait(std::string_view doing, base::Location where) {
  if (distrun_runtime_may_wait == nullptr) return;  // also with an older runtime
  Reply reply;
  if (distrun_runtime_may_wait(lend(doing), take_why, &reply) == DISTRUN_OK) return;
  throw Error(ErrorKind::Failed, reply.why, where);
}

bool knows_of_suites(const distrun_rank& line) noexcept {
  return line.size >= offsetof(distrun_rank, setting_count) + sizeof(line.setting_count);
}

}  // namespace

Rank::Rank(const distrun_rank& line, Parameters parameters)
    : line_(line), parameters_(std::move(parameters)), tally_(line) {}

std::string_view Rank::worker_name() const noexcept { return view(line_.worker_name); }
std::string Rank::worker_name(int rank) const { return "worker" + std::to_string(rank); }
std::string_view Rank::run_id() const noexcept { return view(line_.run_id); }
std::string_view Rank::test_id() const noexcept { return view(line_.test_id); }
std::string_view Rank::work_dir() const noexcept { return view(line_.work_dir); }
std::string_view Rank::temp_dir() const noexcept { return view(line_.temp_dir); }
std::string_view Rank::backend() const noexcept { return view(line_.backend); }
std::string_view Rank::agent() const noexcept { return view(line_.agent); }
std::string_view Rank::gpu_driver() const noexcept { return view(line_.gpu_driver); }
std::string_view Rank::init_method() const noexcept { return view(line_.init_method); }

std::string_view Rank::suite_dir() const noexcept {
  return knows_of_suites(line_) ? view(line_.suite_dir) : std::string_view();
}

std::string_view Rank::setting(std::string_view key) const {
  std::string known;
  std::vector<std::string> keys;
  for (std::size_t i = 0; knows_of_suites(line_) && i < line_.setting_count; ++i) {
    if (view(line_.settings[i].key) == key) return view(line_.settings[i].value);
    keys.emplace_back(view(line_.settings[i].key));
    known += (known.empty() ? "" : ", ") + keys.back();
  }
  throw Error(ErrorKind::InvalidArgument, "KeyError",
              "no setting '" + std::string(key) + "'; the suite's host set " + (known.empty() ? "none" : known) +
                  base::did_you_mean(key, keys));
}

void Rank::refuse_suite() const {
  throw Error(ErrorKind::InvalidArgument, suite_ == nullptr
                                              ? "the suite has no fixture; declare one with DISTRUN_SUITE_FIXTURE"
                                              : "the suite's fixture has another class");
}

std::uint64_t Rank::seed() const noexcept { return base::derive_seed(line_.seed, worker_name()); }

void Rank::barrier(std::string_view name, std::chrono::milliseconds timeout, base::Location where) {
  refuse_where_none_may_wait("waits in a barrier", where);
  Reply reply;
  tell_site(line_, where);
  const std::int32_t code =
      line_.barrier(line_.self, lend(name), bound_ms(timeout), take_why, &reply, &reply.because_of);
  throw_unless_ok(code, reply, "barrier '" + std::string(name) + "'", where);
}

void Rank::send(int to, std::string_view tag, std::string_view data, base::Location where) {
  const std::int32_t code = line_.send(line_.self, to, lend(tag), data.data(), data.size());
  if (code == DISTRUN_OK) return;
  const bool too_large = data.size() > base::kMessageMax;
  const std::string why = to < 0 || to >= world_size() ? ": there is no such rank"
                          : too_large ? ": a message has at most " + std::to_string(base::kMessageMiB) +
                                            " MiB; send it in parts, or through a file in temp_dir()"
                                      : "";
  const std::string doing = "send " + std::to_string(data.size()) + " bytes to rank " + std::to_string(to) + " of " +
                            std::to_string(world_size());
  throw_unless_ok(code, {}, doing + why, where);
}

std::string Rank::receive(int from, std::string_view tag, std::chrono::milliseconds timeout, base::Location where) {
  const std::string doing = "receive '" + std::string(tag) + "' from rank " + std::to_string(from);
  if (from < 0) throw Error(ErrorKind::InvalidArgument, doing + ": no such rank", where);
  refuse_where_none_may_wait(kReceives, where);
  Reply reply;
  tell_site(line_, where);
  const std::int32_t code =
      line_.receive(line_.self, &from, lend(tag), bound_ms(timeout), take_data, take_why, &reply, &reply.because_of);
  throw_unless_ok(code, reply, doing, where);
  return std::move(reply.data);
}

Message Rank::receive_from_any(std::string_view tag, std::chrono::milliseconds timeout, base::Location where) {
  refuse_where_none_may_wait(kReceives, where);
  Reply reply;
  std::int32_t from = -1;
  tell_site(line_, where);
  const std::int32_t code =
      line_.receive(line_.self, &from, lend(tag), bound_ms(timeout), take_data, take_why, &reply, &reply.because_of);
  throw_unless_ok(code, reply, "receive '" + std::string(tag) + "' from any rank", where);
  return {from, std::move(reply.data)};
}

void Rank::note(std::string_view key, std::string_view value) { line_.note(line_.self, lend(key), lend(value)); }

void skip(std::string reason) { throw Skip{.reason = std::move(reason)}; }

void skip_as(std::string_view table_name) { throw skip_entry(table_name); }

}  // namespace distrun
