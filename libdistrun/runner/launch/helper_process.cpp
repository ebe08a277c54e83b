#include <distrun/runner/launch/helper_process.hpp>

#include <signal.h>
#include <unistd.h>

#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/tracees.hpp>

namespace distrun::launch {
namespace {

constexpr std::size_t kOutputCap = 64 << 10;
constexpr std::size_t kLastLines = 5;

}  // namespace

HelperProcess::HelperProcess(io::Loop& loop, const Spec& spec, std::function<void(proc::ExitStatus)> on_ended)
    : on_ended_(std::move(on_ended)) {
  base::FdPair out = base::make_pipe();
  base::FdPair err = base::make_pipe();
  proc::ChildSpec child;
  child.program = spec.program;
  child.arguments = spec.arguments;
  child.environment = spec.environment;
  child.descriptors = {{out.second.get(), STDOUT_FILENO}, {err.second.get(), STDERR_FILENO}, {spec.line, 3}};
  if (spec.dump >= 0) child.descriptors.push_back({spec.dump, 4});
  proc::Child started = proc::start_helper(loop.context(), child);
  pid_ = started.pid;
  out_ = std::make_unique<OutputPipe>(loop, std::move(out.first), kOutputCap);
  err_ = std::make_unique<OutputPipe>(loop, std::move(err.first), kOutputCap);
  death_ = std::make_unique<io::FdWatch>(loop, std::move(started.pidfd), [this] { on_death(); });
}

HelperProcess::~HelperProcess() {
  if (ended_) return;
  kill();
  proc::reap_killed(pid_, death_->fd());
}

void HelperProcess::kill() noexcept {
  if (ended_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

void HelperProcess::on_death() {
  const auto status = proc::try_reap(pid_);
  if (!status) return;
  ended_ = true;
  death_.reset();
  out_->drain();
  err_->drain();
  on_ended_(*status);
}

std::string HelperProcess::last_words() const {
  std::string text = err_->capture().text();
  if (text.empty()) text = out_->capture().text();
  const std::vector<std::string> lines = base::split_lines(base::printable(text));
  std::string words;
  const std::size_t first = lines.size() > kLastLines ? lines.size() - kLastLines : 0;
  for (std::size_t i = first; i < lines.size(); ++i) words += "\n  | " + lines[i];
  return words;
}

}  // namespace distrun::launch
