#include <distrun/launch/zygote_handle.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include <distrun/base/error.hpp>

namespace distrun::launch {

ZygoteHandle::ZygoteHandle(io::Loop& loop, const std::string& rank_program, std::vector<std::string> environment,
                           const std::string& plugin)
    : loop_(loop), plugin_(plugin), ready_(loop) {
  base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  HelperProcess::Spec spec;
  spec.program = rank_program;
  spec.arguments = {"--zygote", plugin, std::to_string(::getpid())};
  spec.environment = std::move(environment);
  if (std::getenv(wire::kTunablesVariable) == nullptr) {
    spec.environment.push_back(std::string(wire::kTunablesVariable) + "=" + wire::kZygoteTunables);
  }
  spec.line = line.second.get();
  process_ = std::make_unique<HelperProcess>(loop, spec, [this](proc::ExitStatus status) {
    status_ = status;
    on_end();
  });
  socket_ = std::make_unique<io::PacketSocket>(
      loop, std::move(line.first),
      io::PacketSocket::Handlers{[this](const wire::Packet& packet) { on_packet(packet); }, [] {}});
}

void ZygoteHandle::on_packet(const wire::Packet& packet) {
  try {
    if (!ready_.is_set()) {
      ready_.set(wire::decode<wire::ZygoteReady>(wire::view_of(packet.bytes)));
      return;
    }
    if (waiting_.empty()) return;
    auto answer = wire::decode<wire::ForkAnswer>(wire::view_of(packet.bytes));
    const OnForked on_forked = std::move(waiting_.front());
    waiting_.pop_front();
    on_forked(std::move(answer));
  } catch (const Error&) {
    process_->kill();  // the plugin has written over its zygote; its end is told next
  }
}

// Its death may be seen before the last of what it said: that it is loaded, which ranks it has forked.
void ZygoteHandle::on_end() {
  usable_ = false;
  socket_->drain();
  if (!ready_.is_set()) {
    wire::ZygoteReady failed;
    failed.error = timed_out_ ? "timed out" : plugin_ + describe_end() + process_->last_words();
    ready_.set(std::move(failed));
  }
  while (!waiting_.empty()) {
    const OnForked on_forked = std::move(waiting_.front());
    waiting_.pop_front();
    on_forked(std::nullopt);
  }
}

std::string ZygoteHandle::describe_end() const {
  if (!status_->exited()) return ": its zygote " + status_->describe() + " while loading it";
  return " ended its process with exit code " + std::to_string(status_->code()) + " while it was loaded";
}

io::Task<std::string> ZygoteHandle::ready(base::Nanoseconds bound) {
  io::Alarm alarm(loop_, [this] {
    timed_out_ = true;
    process_->kill();
  });
  alarm.set(loop_.clock().now() + bound);
  const wire::ZygoteReady ready = co_await ready_.wait();
  if (timed_out_) {
    throw Error(ErrorKind::Timeout, plugin_ + " did not finish loading within " + base::human(bound) +
                                        process_->last_words());
  }
  if (!ready.error.empty()) throw Error(ErrorKind::Failed, "PluginError", ready.error);
  usable_ = ready.unsafe.empty();
  co_return ready.unsafe;
}

void ZygoteHandle::fork(const wire::ForkOrder& order, const std::vector<int>& fds, OnForked on_forked) {
  socket_->send(wire::view_of(wire::encode(order)), fds);
  waiting_.push_back(std::move(on_forked));
}

}  // namespace distrun::launch
