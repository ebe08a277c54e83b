#include <distrun/runner/nodes/run_node.hpp>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/node_service.hpp>
#include <distrun/runner/proc/environment.hpp>

namespace distrun::nodes {
namespace {

constexpr auto kSecretBound = std::chrono::seconds(30);
constexpr std::size_t kSecretMax = 1000;
// Time for the last frame to leave; the coordinator closes the link when it has it.
constexpr auto kFarewell = std::chrono::seconds(2);
// From a job's signal to the coordinator's order. A batch system kills everything some seconds after its signal.
constexpr auto kOrderBound = std::chrono::seconds(4);

bool is_at_end(int fd) {
  pollfd entry{fd, POLLIN, 0};
  if (::poll(&entry, 1, 0) != 1) return false;
  char byte = 0;
  return ::read(fd, &byte, 1) <= 0;
}

bool is_token(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

// The node while it is joined.
class Node {
 public:
  Node(io::Loop& loop, NodeSettings settings, proc::Coordinator under)
      : loop_(loop),
        link_(join(loop, settings)),
        service_(
            loop,
            {settings.node, settings.run, link_->local_address(), settings.resources.cpus, settings.host_variables},
            [this](wire::Bytes packed) { send(std::move(packed)); }, [this] { end_.set_after(kFarewell); }),
        end_(loop, [this] { loop_.stop(); }),
        signals_(loop.context(), SIGTERM, SIGHUP),
        guard_(loop, std::move(under.guard), [this] { loop_.stop(); }),
        input_(loop, base::Fd(::dup(settings.input)), [this] {
          if (is_at_end(input_.fd())) loop_.stop();
        }) {
    link_->follow(
        {[this](const wire::Frame& frame) { service_.on_frame(frame); }, [this](const std::string&) { loop_.stop(); }});
    signals_.async_wait([this](const auto& error, int signal) {
      if (!error) on_end_signal(signal);
    });
  }

 private:
  // In a job, the coordinator says how the run ends, if it still can.
  void on_end_signal(int signal) {
    if (!service_.tell_ending(signal)) return loop_.stop();
    end_.set_after(kOrderBound);
  }
  static std::unique_ptr<Link> join(io::Loop& loop, const NodeSettings& settings) {
    DialSettings dialled;
    dialled.places = settings.places;
    dialled.secret = settings.secret.secret;
    dialled.join = {settings.host,    proc::host_name(),           ::getpid(),
                    settings.version, addresses_of_this_machine(), settings.resources};
    dialled.give_up = settings.input;
    return dial(loop, dialled);
  }
  // A coordinator that does not read is as good as gone.
  void send(wire::Bytes packed) {
    try {
      link_->send(std::move(packed));
    } catch (const Error&) {
      loop_.stop();
    }
  }

  io::Loop& loop_;
  std::unique_ptr<Link> link_;
  NodeService service_;
  io::Alarm end_;
  boost::asio::signal_set signals_;
  io::FdWatch guard_;
  io::FdWatch input_;
};

}  // namespace

NodeSecret read_node_secret(int fd) {
  const base::TimePoint until = base::deadline_after(kSecretBound);
  std::string line;
  for (char c = 0; line.size() < kSecretMax; line += c) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - base::system_clock().now());
    pollfd entry{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) != 1) break;
    if (::read(fd, &c, 1) != 1) break;
    if (c != '\n') continue;
    const std::size_t space = line.find(' ');
    NodeSecret secret{line.substr(0, space), space == line.npos ? "" : line.substr(space + 1)};
    if (is_token(secret.secret) && is_token(secret.run_id)) return secret;
    break;
  }
  throw Error(ErrorKind::InvalidArgument,
              "its standard input does not begin with a run's secret: `distrun node` is started by distrun, for a run "
              "with --hosts");
}

int run_node(NodeSettings settings, proc::Coordinator under) {
  io::Loop loop;
  const Node node(loop, std::move(settings), std::move(under));
  loop.run();
  return 0;
}

}  // namespace distrun::nodes
