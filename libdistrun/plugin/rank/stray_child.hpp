#pragma once
// A process that a test has forked and that goes on with the test as if it were the rank. It has neither the rank's
// line nor its listener; what it comes to stands on the rank's slot of the board, where the coordinator finds it, and
// for people on standard error.
#include <cstdint>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

// It has come back from the body: that is told, and it ends.
[[noreturn]] void end_stray_child(const board::SlotWriter& writer, std::int32_t rank);

// A check has failed in it. It may go on: many do their part and end by themselves.
void tell_error_of_child(const board::SlotWriter& writer, std::int32_t rank, const wire::ErrorReport& error);

// What it gets for a barrier or a message.
std::int32_t refuse_child(std::int32_t rank, distrun_sink why, void* context);

}  // namespace distrun::rank
