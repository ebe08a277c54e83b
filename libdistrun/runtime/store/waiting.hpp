#pragma once
// Waits for keys: how they appear on the board, and their errors.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/request.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::stores {

// Describes a wait: the first of the keys, and the ranks that must write them (awaited_ranks.hpp). The caller keeps
// `name` while the wait lasts.
board::WaitInfo wait_for(const Request& request, std::string& name, base::Location site);

// Used by waits: checks now and then whether a rank that the calling thread waits for has died (AwaitedRanks::fatal()).
class AwaitedDeaths {
 public:
  AwaitedDeaths() noexcept;
  // Also returns nothing if it is too early to look again. After a death, the caller checks once more for the key.
  std::optional<core::Death> find();
  // Returns when to look next; the deadline if there are no ranks to look for.
  base::TimePoint next(base::TimePoint deadline) const noexcept;

 private:
  static constexpr base::Nanoseconds kLook = std::chrono::milliseconds(50);
  bool may_look() noexcept;

  base::TimePoint next_;
};
// Throws base::PeerFailed: "waiting for the key a: rank 2 is gone: its process 4711 has ended".
[[noreturn]] void throw_awaited_death(std::string_view doing, const core::Death& death, base::Location site);
// Returns "; from rank 2 (its process 4711 has ended)", for a timeout; empty if no AwaitedRanks names the writers.
std::string awaited_text();

// Returns Error{Timeout, "DistStoreError"}: "wait timeout after 100 ms, keys: a, b".
Error timeout_error(base::Nanoseconds timeout, const std::vector<std::string>& missing, base::Location site);

}  // namespace distrun::stores
