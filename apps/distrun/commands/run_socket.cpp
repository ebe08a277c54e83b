#include "run_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/io/ask.hpp>
#include <distrun/common/wire/frame.hpp>

namespace distrun::cli {
namespace {

std::string prefix() { return wire::kInspectPrefix + std::to_string(::getuid()) + "-"; }

struct Address {
  sockaddr_un socket{};
  socklen_t size = 0;
};

Address address_of(const std::string& run_id) {
  const std::string name = prefix() + run_id;
  Address address;
  address.socket.sun_family = AF_UNIX;
  constexpr std::size_t kNameMax = sizeof address.socket.sun_path - 1;
  if (name.size() > kNameMax) {
    throw Error(ErrorKind::InvalidArgument, base::one_line(run_id, 100) + " is not a run's id: it is too long");
  }
  name.copy(address.socket.sun_path + 1, kNameMax);  // the leading zero makes it abstract
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

// A snapshot may take three times its bound on a busy machine; --timeout-scale and sanitizers lengthen the bound. The
// examination takes two.
constexpr auto kSnapshotTime = std::chrono::seconds(40);
constexpr auto kExaminationTime = 2 * kSnapshotTime;

template <class T>
T ask(const std::string& run_id, const wire::InspectOrder& order, wire::InspectFrame answer,
      base::Nanoseconds patience = io::kPatience) {
  const Address address = address_of(run_id);
  const std::string who = "run " + base::one_line(run_id, 100);
  const base::Fd socket = io::connect_to(&address.socket, address.size, who);
  const wire::Frame frame = io::ask(socket.get(), wire::kProtocol<wire::InspectFrame>,
                                    wire::pack(wire::InspectFrame::Order, 0, order), who, patience);
  if (!frame.is(answer)) throw Error(ErrorKind::Failed, who + " sent an answer of another kind");
  return wire::decode<T>(wire::view_of(frame.payload));
}

}  // namespace

base::Fd listen_for(const std::string& run_id) {
  const Address address = address_of(run_id);
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.socket), address.size) != 0 ||
      ::listen(socket.get(), 8) != 0) {
    base::throw_errno("cannot create the socket for `distrun ps`, `stacks`, `doctor`, `attach` and `cancel`", errno);
  }
  return socket;
}

std::vector<std::string> running_ids() {
  const std::string wanted = "@" + prefix();
  std::set<std::string> ids;  // a listening socket and each of its connections have a line
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.find(wanted);
    if (at != std::string::npos) ids.insert(line.substr(at + wanted.size()));
  }
  return {ids.begin(), ids.end()};
}

wire::RunStatus cancel_run(const std::string& run_id) {
  return ask<wire::RunStatus>(run_id, {wire::InspectKind::Cancel, -1}, wire::InspectFrame::RunStatus);
}

wire::RunStatus ask_status(const std::string& run_id) {
  return ask<wire::RunStatus>(run_id, {wire::InspectKind::Status, -1}, wire::InspectFrame::RunStatus);
}

wire::ToldStacks ask_stacks(const std::string& run_id, int rank) {
  return ask<wire::ToldStacks>(run_id, {wire::InspectKind::Stacks, rank}, wire::InspectFrame::ToldStacks,
                               kSnapshotTime);
}

wire::ToldExamination ask_examination(const std::string& run_id, bool with_json) {
  const wire::InspectKind kind = with_json ? wire::InspectKind::ExamineAsJson : wire::InspectKind::Examine;
  return ask<wire::ToldExamination>(run_id, {kind, -1}, wire::InspectFrame::ToldExamination, kExaminationTime);
}

std::string find_run(const std::string& wanted, const std::vector<std::string>& more) {
  std::vector<std::string> matching;
  std::string all;
  const std::vector<std::string> running = running_ids();
  std::set<std::string> ids(running.begin(), running.end());
  ids.insert(more.begin(), more.end());
  for (const std::string& id : ids) {
    all += (all.empty() ? "" : ", ") + id;
    if (id.starts_with(wanted)) matching.push_back(id);
  }
  if (matching.size() == 1) return matching.front();
  if (all.empty()) throw Error(ErrorKind::InvalidArgument, "no distrun of this user is running");
  throw Error(ErrorKind::InvalidArgument,
              (matching.empty() ? "no run has an id that starts with " + base::one_line(wanted, 100) + "; there are: "
                                : "several runs are running; give the id of one: ") +
                  all);
}

}  // namespace distrun::cli
