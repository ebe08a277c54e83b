#include <distrun/plugin/rank/stray_child.hpp>

#include <unistd.h>

#include <string>

#include <distrun/common/wire/skip_table.hpp>

namespace distrun::rank {
namespace {

std::string who(std::int32_t rank) {
  return "process " + std::to_string(::getpid()) + ", forked by rank " + std::to_string(rank);
}

// Bypasses all buffers: a forked process inherits its parent's unwritten output in them.
void say(const std::string& text) { static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size())); }

}  // namespace

void end_stray_child(const board::SlotWriter& writer, std::int32_t rank) {
  writer.note_stray_child(::getpid());
  say("distrun: " + who(rank) + ", returned from the test body; a child of a test must end with _exit()\n");
  ::_exit(wire::kTestErrorExitCode);
}

void tell_error_of_child(const board::SlotWriter& writer, std::int32_t rank, const wire::ErrorReport& error) {
  writer.note_failed_child(::getpid());
  const std::string place = error.file.empty() ? "" : " (" + error.file + ":" + std::to_string(error.line) + ")";
  say("distrun: in " + who(rank) + ": " + error.type + ": " + error.text + place + "\n");
}

std::int32_t refuse_child(std::int32_t rank, distrun_sink why, void* context) {
  const std::string text = who(rank) + ", cannot communicate with other ranks";
  if (why != nullptr) why(context, text.data(), text.size());
  return DISTRUN_INVALID;
}

}  // namespace distrun::rank
