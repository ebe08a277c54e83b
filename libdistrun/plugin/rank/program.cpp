#include <distrun/plugin/rank/program.hpp>

#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/plugin/rank/binding.hpp>
#include <distrun/plugin/rank/control_line.hpp>
#include <distrun/plugin/rank/entry.hpp>
#include <distrun/plugin/rank/limits.hpp>
#include <distrun/plugin/rank/mount_space.hpp>

namespace distrun::rank {
namespace {

constexpr int kNotStarted = 127;  // as in shells

const char* advice(int error) {
  if (error == ENOEXEC) return ": it is neither a binary for this machine nor a script that begins with #!";
  if (error == ENOENT) return ": it or its interpreter does not exist";
  return "";
}

[[noreturn]] void tell_failure(base::Fd line, std::string text) {
  wire::ErrorReport report;
  report.type = "ExecFailed";
  report.text = std::move(text);
  ControlLine(std::move(line)).send(wire::ControlFrame::Error, 0, report);
  ::_exit(kNotStarted);
}

}  // namespace

void become_program(base::Fd line, const ProgramOrder& order) {
  set_tag(order.tag);
  restore_files_limit(order.files_max);
  try {
    enter(order.space);
    bind_to(order.cpus);
  } catch (const Error& error) {
    tell_failure(std::move(line), error.what());
  }
  depend_on(order.coordinator_pid);
  ::execve(order.path, order.arguments, environ);
  const int error = errno;
  tell_failure(std::move(line),
               "cannot start " + std::string(order.path) + ": " + base::errno_text(error) + advice(error));
}

}  // namespace distrun::rank
