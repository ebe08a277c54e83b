#include <distrun/runner/daemon/client.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/ask.hpp>
#include <distrun/common/wire/frame.hpp>

namespace distrun::daemon {
namespace {

using wire::DaemonFrame;

constexpr char kWho[] = "the daemon";

template <class T>
T ask(const std::string& socket, const wire::Bytes& question, DaemonFrame answer) {
  const base::Fd line = connect(socket);
  wire::Bytes words = wire::pack(DaemonFrame::Hello, 0, wire::DaemonHello{});
  words.insert(words.end(), question.begin(), question.end());
  const wire::Frame frame = io::ask(line.get(), wire::kProtocol<DaemonFrame>, words, kWho);
  if (frame.is(DaemonFrame::Refusal)) {
    throw Error(ErrorKind::Failed, wire::decode<wire::Refusal>(wire::view_of(frame.payload)).text);
  }
  if (!frame.is(answer)) throw Error(ErrorKind::Failed, "the daemon sent an answer of another kind");
  return wire::decode<T>(wire::view_of(frame.payload));
}

bool asks_for_daemon(std::string_view argument) { return argument == "--daemon" || argument.starts_with("--daemon="); }

}  // namespace

base::Fd connect(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  try {
    return io::connect_to(&address, sizeof address, kWho);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Disconnected) throw;
    throw Error(ErrorKind::Disconnected, "no daemon listens at " + socket + " (" + error.text() +
                                             "); start one with `distrund &`, or leave --daemon out");
  }
}

wire::Submission own_submission(const std::vector<std::string>& arguments) {
  wire::Submission own;
  bool options = true;
  for (const std::string& argument : arguments) {
    options = options && argument != "--";
    if (!options || !asks_for_daemon(argument)) own.arguments.push_back(argument);
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("DISTRUN_DAEMON=")) own.environment.emplace_back(*entry);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  own.file_mask = mask;
  return own;
}

wire::DaemonStatus ask_status(const std::string& socket) {
  return ask<wire::DaemonStatus>(socket, wire::pack_frame(DaemonFrame::AskStatus, 0, {}), DaemonFrame::Status);
}

wire::RunsCancelled cancel(const std::string& socket, const std::string& which) {
  return ask<wire::RunsCancelled>(socket, wire::pack(DaemonFrame::CancelRuns, 0, wire::CancelOrder{which}),
                                  DaemonFrame::RunsCancelled);
}

std::optional<wire::DaemonStatus> find_status(const std::string& socket) {
  struct stat status {};
  if (::lstat(socket.c_str(), &status) != 0) return std::nullopt;
  try {
    return ask_status(socket);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Disconnected) throw;
    return std::nullopt;  // left by a dead daemon
  }
}

}  // namespace distrun::daemon
