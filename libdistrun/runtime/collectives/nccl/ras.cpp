#include <distrun/runtime/collectives/nccl/ras.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <string_view>

#include <nlohmann/json.hpp>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/store_server/tcp_address.hpp>

namespace distrun::collectives {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLineMost = 1024;
constexpr std::size_t kReportMost = std::size_t{4} << 20;
constexpr int kDepthMost = 16;

// ---- the conversation

struct RasPlace {
  std::vector<std::string> hosts;  // numeric
  std::uint16_t port = 0;
};

bool is_number(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> into{};
  return ::inet_pton(AF_INET, host.c_str(), into.data()) == 1 || ::inet_pton(AF_INET6, host.c_str(), into.data()) == 1;
}

RasPlace read_place(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) throw Error(ErrorKind::InvalidArgument, "it has no port");
  RasPlace place;
  const char* const end = address.data() + address.size();
  const auto [stop, error] = std::from_chars(address.data() + colon + 1, end, place.port);
  if (error != std::errc{} || stop != end) throw Error(ErrorKind::InvalidArgument, "its port is not a number");
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost") {
    place.hosts = {"127.0.0.1", "::1"};
  } else if (is_number(host)) {
    place.hosts = {host};
  } else {
    throw Error(ErrorKind::InvalidArgument, "its host is neither an IP address nor localhost");
  }
  return place;
}

class RasTalk {
 public:
  RasTalk(const RasPlace& place, base::TimePoint until) : until_(until), socket_(connect_to_any(place)) {}

  // Returns the line that answers.
  std::string ask(std::string_view question);
  // Returns everything received until the RAS closes the connection.
  std::string ask_all(std::string_view question);

 private:
  base::Fd connect_to_any(const RasPlace& place) const;
  base::Fd connect_to(const std::string& host, std::uint16_t port) const;
  void wait_for(int socket, short events) const;
  void say(std::string_view question) const;
  // Returns false if the RAS has closed the connection.
  bool receive();

  const base::TimePoint until_;
  const base::Fd socket_;
  std::string received_;
};

void RasTalk::wait_for(int socket, short events) const {
  for (;;) {
    const auto left = std::chrono::ceil<base::Milliseconds>(until_ - base::system_clock().now()).count();
    if (left <= 0) throw Error(ErrorKind::Timeout, "it did not answer in time");
    pollfd entry{socket, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<decltype(left)>(left, 1000)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) base::throw_errno("waiting for it failed", errno);
  }
}

base::Fd RasTalk::connect_to(const std::string& host, std::uint16_t port) const {
  const stores::TcpAddress address = stores::resolve(host, port).front();
  base::Fd socket = stores::make_tcp_socket(address.family());
  int error = ::connect(socket.get(), address.get(), address.size) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EINTR) {
    wait_for(socket.get(), POLLOUT);
    socklen_t size = sizeof error;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  }
  if (error != 0) throw Error(ErrorKind::Disconnected, "it cannot be reached: " + base::errno_text(error));
  return socket;
}

// Reports the first error if no host can be reached: the machine may have no IPv6.
base::Fd RasTalk::connect_to_any(const RasPlace& place) const {
  std::string why;
  for (const std::string& host : place.hosts) {
    try {
      return connect_to(host, place.port);
    } catch (const Error& error) {
      if (why.empty()) why = error.text();
    }
  }
  throw Error(ErrorKind::Disconnected, why);
}

void RasTalk::say(std::string_view question) const {
  const std::string line = std::string(question) + "\n";
  for (std::string_view left = line; !left.empty();) {
    wait_for(socket_.get(), POLLOUT);
    const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) left.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EINTR && errno != EAGAIN) base::throw_errno("it does not accept a request", errno);
  }
}

bool RasTalk::receive() {
  std::array<char, 16 << 10> buffer;
  for (;;) {
    wait_for(socket_.get(), POLLIN);
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got == 0) return false;
    if (got > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(got));
      return true;
    }
    if (errno != EINTR && errno != EAGAIN) base::throw_errno("its answer is incomplete", errno);
  }
}

std::string RasTalk::ask(std::string_view question) {
  say(question);
  std::size_t end = received_.find('\n');
  for (; end == std::string::npos; end = received_.find('\n')) {
    if (received_.size() > kLineMost) throw Error(ErrorKind::Failed, "its line is too long");
    if (!receive()) throw Error(ErrorKind::Disconnected, "it closed the connection");
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

std::string RasTalk::ask_all(std::string_view question) {
  say(question);
  while (receive()) {
    if (received_.size() > kReportMost) throw Error(ErrorKind::Failed, "its report is too long");
  }
  return std::move(received_);
}

// ---- the report

// Returns the integer, which must be at least `least` and fit an int.
int number_at(const Json& from, const char* name, int least) {
  const auto* const number = from.at(name).get_ptr<const Json::number_integer_t*>();
  if (number == nullptr || *number < least || *number > std::numeric_limits<int>::max()) {
    throw Error(ErrorKind::Failed, std::string("its \"") + name + "\" is not a valid number");
  }
  return static_cast<int>(*number);
}

int place_at(const Json& from, int size) {
  const int place = number_at(from, "rank", 0);
  if (place >= size) throw Error(ErrorKind::Failed, "it reports a rank that is not in the communicator");
  return place;
}

bool is_set(const Json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_boolean() && found->get<bool>();
}

RasRank read_rank(const Json& from, int size) {
  RasRank rank;
  rank.place = place_at(from, size);
  rank.process = number_at(from, "pid", -1);
  const Json& status = from.at("status");
  rank.start = number_at(status, "init_state", 0);
  rank.error = number_at(status, "async_error", 0);
  rank.is_aborted = is_set(status, "abort_flag");
  for (const auto& [name, count] : from.at("collective_counts").items()) {
    const auto* const number = count.get_ptr<const Json::number_unsigned_t*>();
    if (number == nullptr) throw Error(ErrorKind::Failed, "its call counts are not valid numbers");
    rank.calls[name] = *number;
  }
  return rank;
}

RasMissing read_missing(const Json& from, int size) {
  RasMissing rank;
  rank.place = place_at(from, size);
  rank.process = number_at(from, "pid", -1);
  rank.host = from.at("host").get<std::string>();
  const Json& status = from.at("status");
  rank.is_silent = is_set(status, "unresponsive");
  rank.is_dead = is_set(status, "considered_dead");
  return rank;
}

RasCommunicator read_communicator(const Json& from) {
  RasCommunicator communicator;
  communicator.hash = from.at("hash").get<std::string>();
  communicator.size = number_at(from, "size", 1);
  for (const Json& rank : from.at("ranks")) communicator.ranks.push_back(read_rank(rank, communicator.size));
  for (const Json& rank : from.at("missing_ranks")) {
    communicator.missing.push_back(read_missing(rank, communicator.size));
  }
  return communicator;
}

RasReport read_report(const std::string& text) {
  const auto is_flat = [](int depth, Json::parse_event_t, Json&) { return depth <= kDepthMost; };
  try {
    const Json all = Json::parse(text, is_flat);
    RasReport report;
    report.nccl_version = all.at("nccl_version").get<std::string>();
    for (const Json& each : all.at("communicators")) report.communicators.push_back(read_communicator(each));
    return report;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::Failed, "its report is not a report of NCCL: " + base::one_line(error.what()));
  }
}

// Half of the limit, so that the RAS gives up silent ranks in time for its report.
std::string seconds_text(base::Nanoseconds duration) {
  const auto ms = std::chrono::duration_cast<base::Milliseconds>(duration).count();
  const std::string rest = std::to_string(1000 + ms % 1000).substr(1);
  return std::to_string(ms / 1000) + "." + rest;
}

RasReport talk_with_ras(const std::string& address, base::Nanoseconds limit) {
  RasTalk talk(read_place(address), base::deadline_after(limit));
  const std::string hello = talk.ask("CLIENT PROTOCOL 2");
  if (hello.rfind("SERVER PROTOCOL ", 0) != 0) {
    throw Error(ErrorKind::Failed, "it is not a RAS of NCCL; it answered " + base::one_line(hello, 80));
  }
  talk.ask("TIMEOUT " + seconds_text(limit / 2));  // the answer does not matter
  if (const std::string said = talk.ask("SET FORMAT json"); said != "OK") {
    throw Error(
        ErrorKind::Unimplemented,
        "the RAS of this NCCL does not support JSON, which needs 2.28.7; it answered " + base::one_line(said, 80));
  }
  return read_report(talk.ask_all("STATUS"));
}

}  // namespace

std::optional<RasReport> ask_ras(const std::string& address, base::Nanoseconds limit, std::string& why_none) {
  try {
    return talk_with_ras(address, limit);
  } catch (const std::exception& error) {
    why_none = "NCCL's RAS at " + address + " cannot be queried: " + error.what();
    return std::nullopt;
  }
}

}  // namespace distrun::collectives
