#include <distrun/runner/nodes/engine_process.hpp>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/tracees.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kOutputMax = 64 << 10;
constexpr std::size_t kLastLines = 5;

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::string program_path(const std::string& name) {
  if (name.find('/') != name.npos) return name;
  const char* const variable = std::getenv("PATH");
  std::string_view places = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!places.empty()) {
    const std::size_t end = std::min(places.find(':'), places.size());
    std::string path = std::string(places.substr(0, end)) + "/" + name;
    if (end > 0 && is_program(path)) return path;
    places.remove_prefix(std::min(end + 1, places.size()));
  }
  throw Error(ErrorKind::Failed, "cannot find " + name +
                                     " in PATH; install it, or use --launcher with another way to " +
                                     "start a command on a host");
}

// The child's descriptor of the reading end is a duplicate. Few bytes always fit into an empty pipe.
base::Fd input_with(base::FdPair& pipe, const std::string& bytes) {
  const ssize_t count = ::write(pipe.second.get(), bytes.data(), bytes.size());
  if (count != static_cast<ssize_t>(bytes.size())) base::throw_errno("cannot write to a pipe", errno);
  return std::move(pipe.second);
}

}  // namespace

EngineProcess::EngineProcess(io::Loop& loop, const std::vector<std::string>& words, const std::string& input,
                             std::function<void()> on_ended)
    : name_(words.front().substr(words.front().rfind('/') + 1)), on_ended_(std::move(on_ended)) {
  base::FdPair in = base::make_pipe();
  base::FdPair out = base::make_pipe();
  proc::ChildSpec child;
  child.program = program_path(words.front());
  child.arguments.assign(words.begin() + 1, words.end());
  child.environment = proc::inherited_environment();
  child.descriptors = {
      {in.first.get(), STDIN_FILENO}, {out.second.get(), STDOUT_FILENO}, {out.second.get(), STDERR_FILENO}};
  child.own_session = true;
  input_ = input_with(in, input);
  proc::Child started = proc::start_helper(loop.context(), child);
  pid_ = started.pid;
  output_ = std::make_unique<launch::OutputPipe>(loop, std::move(out.first), kOutputMax);
  death_ = std::make_unique<io::FdWatch>(loop, std::move(started.pidfd), [this] { on_death(); });
}

EngineProcess::~EngineProcess() {
  if (has_ended_) return;
  signal(SIGKILL);
  proc::reap_killed(pid_, death_->fd());
}

void EngineProcess::signal(int number) const noexcept {
  if (has_ended_) return;
  ::kill(-pid_, number);
  ::kill(pid_, number);
}

void EngineProcess::on_death() {
  const auto status = proc::try_reap(pid_);
  if (!status) return;
  has_ended_ = true;
  status_ = *status;
  death_.reset();
  input_.reset();
  output_->drain();
  const std::function<void()> on_ended = std::move(on_ended_);
  on_ended();
}

std::string EngineProcess::end_text() const { return has_ended_ ? name_ + " " + status_.describe() : ""; }

std::string EngineProcess::last_words() const {
  std::vector<std::string> lines;
  for (std::string& line : base::split_lines(base::printable(output_->capture().text()))) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  if (lines.size() == 1) return lines.front();
  std::string words;
  for (const std::string& line : lines) words += "\n  | " + line;
  return words;
}

}  // namespace distrun::nodes
