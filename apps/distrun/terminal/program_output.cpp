#include "program_output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "terminal.hpp"

namespace distrun::cli {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);

bool is_same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

report::LiveOptions live_options(const RunOptions& options) {
  report::LiveOptions live;
  live.prefix = options.program.prefix;
  live.color = {wants_color(options.color, STDOUT_FILENO), wants_color(options.color, STDERR_FILENO)};
  return live;
}

}  // namespace

ProgramOutput::ProgramOutput(io::Loop& loop, const RunOptions& options, std::function<void()> on_lost_reader)
    : loop_(loop),
      on_lost_reader_(std::move(on_lost_reader)),
      out_(STDOUT_FILENO),
      err_(is_same_file(STDOUT_FILENO, STDERR_FILENO) ? std::optional<report::Outlet>()
                                                      : std::make_optional<report::Outlet>(STDERR_FILENO)),
      live_(out_, err_ ? &*err_ : nullptr, live_options(options), loop.clock()),
      alarm_(loop, [this] { tick(); }) {
  if (!options.program.log_dir.empty()) logs_.emplace(options.program.log_dir, options.settings.world_size);
  tick();
}

void ProgramOutput::on_output(int rank, launch::Stream stream, std::string_view bytes) {
  if (logs_) logs_->write(rank, stream, bytes);
  live_.on_output(rank, stream, bytes);
  look_for_reader();
}

// Deferred: this may be called from inside the code that ends the ranks.
void ProgramOutput::look_for_reader() {
  if (on_lost_reader_ && live_.has_lost_reader()) loop_.post(std::exchange(on_lost_reader_, nullptr));
}

void ProgramOutput::tick() {
  live_.tick();
  look_for_reader();
  alarm_.set_after(kTick);
}

void ProgramOutput::finish(runner::RunRecord& record) {
  const auto add = [&record](const std::string& failure) {
    if (!failure.empty()) record.problems.push_back({"", "output", failure});
  };
  add(live_.finish());
  if (logs_) add(logs_->failure());
}

}  // namespace distrun::cli
