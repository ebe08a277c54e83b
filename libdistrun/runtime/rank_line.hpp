#pragma once
// A rank's line as the C interface of its runner has it (plugin/sdk/plugin.h), for the rooms of the runtime.
#include <memory>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::runtime {

// Whether there are functions for waits, for waits for other ranks, for deaths that the test has declared, and for what
// runs on after it: not in a distrun that is older.
bool has_waits(const distrun_rank& rank) noexcept;
bool has_peers(const distrun_rank& rank) noexcept;
bool has_deaths(const distrun_rank& rank) noexcept;
bool has_runs_on(const distrun_rank& rank) noexcept;

inline distrun_string lend(std::string_view text) noexcept { return {text.data(), text.size()}; }
inline std::string keep(distrun_string text) { return {text.data, text.size}; }

// Of a rank that has waits. Good until the process ends: a thread may wait longer than its test runs. Of an older
// distrun it shows waits without their peers, and nothing of other ranks.
std::unique_ptr<core::RankLine> make_rank_line(const distrun_rank& rank);

}  // namespace distrun::runtime
