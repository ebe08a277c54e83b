#pragma once
// A rank's line over the C interface of its runner (plugin/sdk/plugin.h), for the modules of the runtime.
#include <memory>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::runtime {

// Return whether the runner has functions for waits, for waits with peers, for deaths declared by the test, and for
// work that continues after it; an older distrun lacks them.
bool has_waits(const distrun_rank& rank) noexcept;
bool has_peers(const distrun_rank& rank) noexcept;
bool has_deaths(const distrun_rank& rank) noexcept;
bool has_runs_on(const distrun_rank& rank) noexcept;

inline distrun_string lend(std::string_view text) noexcept { return {text.data(), text.size()}; }
inline std::string keep(distrun_string text) { return {text.data, text.size}; }

// Requires has_waits(). Valid until the process ends: a thread may wait longer than its test runs. With an older
// distrun it shows waits without their peers, and nothing about other ranks.
std::unique_ptr<core::RankLine> make_rank_line(const distrun_rank& rank);

}  // namespace distrun::runtime
