#include <distrun/runner/launch/lister.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/board/shared_dump.hpp>
#include <distrun/common/io/one_shot.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/runner/launch/helper_process.hpp>
#include <distrun/runner/launch/helper_stacks.hpp>

namespace distrun::launch {
namespace {

constexpr std::size_t kTableBytesMax = std::size_t{256} << 20;

// The coordinator's end of a lister's line: sends the order at once and collects the reply.
class ReplyReader {
 public:
  ReplyReader(io::Loop& loop, base::Fd socket, const wire::ListOrder& order) {
    const wire::Bytes bytes = wire::encode(order);
    // A few hundred bytes fit into an empty socket, unless the lister is gone, which its end reports.
    (void)::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(socket.get(), SHUT_WR);
    base::set_nonblocking(socket.get());
    watch_ = std::make_unique<io::FdWatch>(loop, std::move(socket), [this] { read_some(); });
  }

  bool overflowed() const noexcept { return overflowed_; }
  wire::Bytes take() {
    while (watch_ && read_some()) {
    }
    return std::move(bytes_);
  }

 private:
  bool read_some() {
    std::array<std::byte, 64 << 10> buffer;
    const ssize_t got = ::read(watch_->fd(), buffer.data(), buffer.size());
    if (got <= 0) {
      if (got == 0 || (errno != EAGAIN && errno != EINTR)) watch_.reset();
      return false;
    }
    bytes_.insert(bytes_.end(), buffer.data(), buffer.data() + got);
    overflowed_ = bytes_.size() > kTableBytesMax;
    if (overflowed_) watch_.reset();  // the lister gets an error for the rest
    return !overflowed_;
  }

  wire::Bytes bytes_;
  bool overflowed_ = false;
  std::unique_ptr<io::FdWatch> watch_;
};

wire::PluginTable read_reply(const std::string& plugin, const wire::Bytes& bytes) {
  const auto reply = wire::decode<wire::ListReply>(wire::view_of(bytes));
  if (!reply.error.empty()) throw Error(ErrorKind::Failed, "PluginError", reply.error);
  wire::PluginTable table;
  try {
    table = wire::read_plugin_table(wire::view_of(reply.table.data(), reply.table.size()));
  } catch (Error& error) {
    throw error.while_doing(plugin);
  }
  if (!table.tests.empty()) return table;
  throw Error(
      ErrorKind::Failed, "PluginError",
      plugin + " has no tests: declare one with DISTRUN_TEST(Suite, name) in a source that is linked into the plugin");
}

// Code of the plugin runs while it is loaded: constructors of globals, and what they call.
std::string describe_early_end(proc::ExitStatus status, const std::optional<board::Dump>& dump) {
  if (!status.exited()) return " " + describe_crash(status, dump, "while it was loaded to list its tests");
  return " ended its process with exit code " + std::to_string(status.code()) +
         " while it was loaded to list its tests; does a global constructor call exit()?";
}

// Returns where a lister has crashed; empty if it has not.
io::Task<std::string> stack_text(io::Loop& loop, const Probe::Program& probe, std::optional<board::Dump> dump) {
  if (!dump) co_return "";
  io::OneShot<std::string> told(loop);
  const HelperStacks reader(loop, probe, std::move(dump->stacks), [&](std::string text) { told.set(std::move(text)); });
  co_return co_await told.wait();
}

// If an exception is reported with its text, omits the output, where the C++ runtime prints it as well.
std::string last_words_of(const HelperProcess& lister, const std::optional<board::Dump>& dump) {
  return dump && !dump->exception_type.empty() ? "" : lister.last_words();
}

}  // namespace

io::Task<wire::PluginTable> list_plugin(io::Loop& loop, std::string rank_program, std::vector<std::string> environment,
                                        std::string plugin, wire::ListOrder order, base::Nanoseconds bound,
                                        Probe::Program probe, std::function<void(HelperProcess*)> on_change) {
  base::FdPair line = base::make_socket_pair(SOCK_STREAM);
  HelperProcess::Spec spec;
  spec.program = std::move(rank_program);
  spec.arguments = {"--list", plugin};
  spec.environment = std::move(environment);
  spec.line = line.second.get();
  const board::SharedDump crash;
  spec.dump = crash.fd();
  io::OneShot<proc::ExitStatus> ended(loop);
  HelperProcess lister(loop, spec, [&](proc::ExitStatus status) { ended.set(status); });
  line.second.reset();
  ReplyReader reply(loop, std::move(line.first), order);

  bool timed_out = false;
  std::string stacks;
  std::optional<HelperStacks> reader;
  io::Alarm alarm(loop, [&] {
    timed_out = true;
    reader.emplace(loop, probe, lister.pid(), [&](std::string text) {
      stacks = std::move(text);
      lister.kill();
    });
  });
  alarm.set_after(bound);
  on_change(&lister);
  const proc::ExitStatus status = co_await ended.wait();
  on_change(nullptr);
  if (timed_out) {
    throw Error(ErrorKind::Timeout,
                plugin + " did not list its tests within " + base::human(bound) + lister.last_words() + stacks);
  }
  const wire::Bytes bytes = reply.take();
  if (reply.overflowed()) {
    throw Error(ErrorKind::Overloaded, plugin + " sent a table of tests of more than 256 MiB");
  }
  if (bytes.empty() || !status.clean()) {
    const std::optional<board::Dump> dump = status.exited() ? std::nullopt : crash.read();
    const std::string stacks_of_crash = co_await stack_text(loop, probe, dump);
    throw Error(ErrorKind::Failed,
                plugin + describe_early_end(status, dump) + last_words_of(lister, dump) + stacks_of_crash);
  }
  co_return read_reply(plugin, bytes);
}

}  // namespace distrun::launch
