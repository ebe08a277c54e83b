#pragma once
// Handles a process that a test has forked and that continues the test as if it were the rank. It has neither the
// rank's control line nor its listener; its outcome is recorded in the rank's board slot, where the coordinator finds
// it, and printed on stderr for users.
#include <cstdint>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

// Reports that it came back from the body, and ends it.
[[noreturn]] void end_stray_child(const board::SlotWriter& writer, std::int32_t rank);

// Reports that a check has failed in it. It may continue: many such processes do their part and exit.
void tell_error_of_child(const board::SlotWriter& writer, std::int32_t rank, const wire::ErrorReport& error);

// The result of its barriers and messages.
std::int32_t refuse_child(std::int32_t rank, distrun_sink why, void* context);

}  // namespace distrun::rank
