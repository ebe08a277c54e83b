#include <distrun/runner/launch/zygote_handle.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::launch {
namespace {

// If inlined, g++ 12 warns about bytes that are never copied.
[[gnu::noinline]] std::string variable(const std::string& name, const std::string& value) { return name + "=" + value; }

}  // namespace

ZygoteHandle::ZygoteHandle(io::Loop& loop, const std::string& rank_program, Probe::Program probe,
                           std::vector<std::string> environment, const std::string& plugin)
    : loop_(loop), plugin_(plugin), probe_(std::move(probe)), ready_(loop), alarm_(loop, [this] { on_silence(); }) {
  base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  HelperProcess::Spec spec;
  spec.program = rank_program;
  spec.arguments = {"--zygote", plugin, std::to_string(::getpid())};
  spec.environment = std::move(environment);
  if (std::getenv(wire::kTunablesVariable) == nullptr) {
    spec.environment.push_back(variable(wire::kTunablesVariable, wire::kZygoteTunables));
  }
  spec.line = line.second.get();
  spec.dump = crash_.fd();
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
    bound_next_answer();
    on_forked(std::move(answer), "");
  } catch (const Error&) {
    process_->kill();  // the plugin has overwritten its zygote's memory
  }
}

// Its death may be seen before its last packets: that it is loaded, or which ranks it has forked.
void ZygoteHandle::on_end() {
  usable_ = false;
  socket_->drain();
  alarm_.cancel();
  if (!ready_.is_set()) {
    const std::optional<board::Dump> dump = timed_out_ || status_->exited() ? std::nullopt : crash_.read();
    if (dump) {
      helper_stacks_ = std::make_unique<HelperStacks>(
          loop_, probe_, dump->stacks, [this, dump](const std::string& stacks) { fail_loading(dump, stacks); });
    } else {
      fail_loading({}, "");
    }
  }
  while (!waiting_.empty()) {
    const OnForked on_forked = std::move(waiting_.front());
    waiting_.pop_front();
    on_forked(std::nullopt, is_stuck() ? plugin_ + ": " + stuck_ + process_->last_words() + stacks_
                                       : "the zygote died while forking ranks");
  }
}

void ZygoteHandle::fail_loading(const std::optional<board::Dump>& dump, const std::string& stacks) {
  wire::ZygoteReady failed;
  failed.error = timed_out_ ? "timed out" : plugin_ + describe_end(dump) + process_->last_words() + stacks;
  ready_.set(std::move(failed));
}

std::string ZygoteHandle::describe_end(const std::optional<board::Dump>& dump) const {
  if (!status_->exited()) return " " + describe_crash(*status_, dump, "while it was loaded");
  return " ended its process with exit code " + std::to_string(status_->code()) + " while it was loaded";
}

// The alarm is for the oldest request.
void ZygoteHandle::bound_next_answer() {
  alarm_.cancel();
  if (!waiting_.empty()) alarm_.set_after(answer_bound_);
}

void ZygoteHandle::on_silence() {
  if (!ready_.is_set()) {
    timed_out_ = true;
  } else {
    stuck_ = "its zygote did not fork ranks within " + base::human(answer_bound_);
  }
  look_and_kill();
}

void ZygoteHandle::look_and_kill() {
  usable_ = false;
  helper_stacks_ = std::make_unique<HelperStacks>(loop_, probe_, process_->pid(), [this](std::string text) {
    stacks_ = std::move(text);
    process_->kill();
  });
}

io::Task<std::string> ZygoteHandle::ready(base::Nanoseconds bound) {
  alarm_.set_after(bound);
  const wire::ZygoteReady ready = co_await ready_.wait();
  if (!timed_out_) alarm_.cancel();
  if (timed_out_) {
    throw Error(ErrorKind::Timeout,
                plugin_ + " did not finish loading within " + base::human(bound) + process_->last_words() + stacks_);
  }
  if (!ready.error.empty()) throw Error(ErrorKind::Failed, "PluginError", ready.error);
  usable_ = ready.unsafe.empty();
  co_return ready.unsafe;
}

void ZygoteHandle::fork(const wire::ForkOrder& order, const std::vector<int>& fds, OnForked on_forked) {
  socket_->send(wire::view_of(wire::encode(order)), fds);
  waiting_.push_back(std::move(on_forked));
  if (waiting_.size() == 1) bound_next_answer();
}

}  // namespace distrun::launch
