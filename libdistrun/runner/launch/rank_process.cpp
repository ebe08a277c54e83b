#include <distrun/runner/launch/rank_process.hpp>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/proc/pidfd.hpp>

namespace distrun::launch {

RankEnds RankProcess::make(std::size_t output_cap) {
  base::FdPair control = base::make_socket_pair(SOCK_STREAM);
  base::FdPair out = base::make_pipe();
  base::FdPair err = base::make_pipe();
  auto out_pipe = std::make_unique<OutputPipe>(loop_, std::move(out.first), output_cap);
  auto err_pipe = std::make_unique<OutputPipe>(loop_, std::move(err.first), output_cap);
  connection_ = std::move(control.first);  // all or nothing
  out_ = std::move(out_pipe);
  err_ = std::move(err_pipe);
  return {std::move(control.second), std::move(out.second), std::move(err.second)};
}

void RankProcess::follow_output(const std::function<void(Stream stream, std::string_view bytes)>& on_bytes) {
  out_->follow([on_bytes](std::string_view bytes) { on_bytes(Stream::Out, bytes); });
  err_->follow([on_bytes](std::string_view bytes) { on_bytes(Stream::Err, bytes); });
}

void RankProcess::watch(Handlers handlers) {
  handlers_ = std::move(handlers);
  auto death = std::make_unique<io::FdWatch>(loop_, proc::open_pidfd(pid_), [this] { on_death(); });
  // Listen only now: a rank says hello before the zygote has sent its pid, and must get no order before that.
  socket_ = std::make_unique<io::FrameSocket>(
      loop_, std::move(connection_), wire::kProtocol<wire::ControlFrame>,
      io::FrameSocket::Handlers{[this](const wire::Frame& frame) { handlers_.on_frame(frame); },
                                [this](const std::string& why) {
                                  if (!ended_) handlers_.on_lost(why);
                                }});
  death_ = std::move(death);
}

// Its end would go unnoticed, so the fresh process is ended now.
void RankProcess::end_unwatched() {
  kill();
  ::waitpid(pid_, nullptr, 0);  // bounded by SIGKILL: a fresh rank does no I/O that could block it
  ended_ = true;
}

void RankProcess::on_death() {
  const auto status = proc::try_reap(pid_);
  if (!status) return;
  // Deliver its last frames before its death. Read after reaping, not before: a watch may wake up spuriously, and the
  // rank may then send and end between a read and the reaping.
  socket_->drain();
  ended_ = true;
  death_.reset();
  handlers_.on_end(*status);
}

void RankProcess::send(wire::Bytes packed) {
  if (socket_ && !ended_) socket_->send(std::move(packed));
}

bool RankProcess::ask_for_stacks(int rank) {
  try {
    send(wire::pack_frame(wire::ControlFrame::DumpStacks, static_cast<std::uint16_t>(rank), {}));
    return is_connected();
  } catch (const Error&) {
    return false;  // it does not read
  }
}

void RankProcess::signal(int signal) const noexcept {
  if (!is_alive()) return;
  // A rank may have left its group, or not created it yet. If it is in the group, do not signal it twice: a program
  // that cleans up on the first signal may give up on the second.
  const bool has_group = ::kill(-pid_, signal) == 0;
  if (!has_group || ::getpgid(pid_) != pid_) ::kill(pid_, signal);
}

void RankProcess::signal_process(int signal) const noexcept {
  if (is_alive()) ::kill(pid_, signal);
}

void RankProcess::kill() const noexcept {
  if (!is_alive()) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

proc::Captured RankProcess::output(Stream stream) const {
  const std::unique_ptr<OutputPipe>& pipe = stream == Stream::Out ? out_ : err_;
  return pipe ? pipe->capture().captured() : proc::Captured{};
}

void RankProcess::finish_output() {
  if (!out_) return;
  out_->drain();
  err_->drain();
}

void RankProcess::hold_output(bool hold) {
  if (!out_) return;
  out_->hold(hold);
  err_->hold(hold);
}

void RankProcess::forget_output() {
  if (!out_) return;
  out_->forget();
  err_->forget();
}

}  // namespace distrun::launch
