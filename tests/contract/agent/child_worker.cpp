#include "child_worker.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <distrun/runtime/core/rank_state.hpp>

#include "support/end_with.hpp"

namespace distrun::rpc::testing {
namespace {

// Sends packets: one per text.
void tell(int socket, const std::string& text) {
  if (::send(socket, text.data(), text.size(), MSG_NOSIGNAL) < 0) throw std::runtime_error("the other process is gone");
}
std::string hear(int socket) {
  char text[4096];
  const ssize_t size = ::recv(socket, text, sizeof text, 0);
  if (size <= 0) throw std::runtime_error("the other process is gone");
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

ChildWorker::ChildWorker(WorkerId id) : setting_(setting_of(id, 0)) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  const timeval bound{30, 0};
  for (const int end : ends) ::setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
  ours_ = ends[0], theirs_ = ends[1];
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) serve(parent);
  ::close(theirs_);
}

ChildWorker::~ChildWorker() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(ours_);
}

void ChildWorker::meet(Worker& parent) {
  tell(ours_, parent.record().address);
  parent.agent().add_worker({setting_.worker, hear(ours_)});
}

void ChildWorker::signal(int number) const {
  ::kill(pid_, number);
  if (number != SIGSTOP) return;
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

void ChildWorker::serve(pid_t parent) const {
  distrun::testing::end_with(parent);
  ::close(ours_);
  const std::string address = hear(theirs_);
  core::RankState rank;  // the rank state of the other process may have had threads
  Worker worker(setting_, rank);
  worker.inbox().answer([&worker](const WorkerInfo& from, Message& message) {
    message.kind = MessageKind::Reply;
    try {
      worker.send(from.id(), std::move(message));
    } catch (const Error&) {  // the peer is gone
    }
    return nullptr;
  });
  worker.agent().start(worker.inbox());
  worker.agent().add_worker({setting_of(0, 0).worker, address});
  tell(theirs_, worker.record().address);
  while (!worker.inbox().wait_losses(1)) continue;
  std::_Exit(0);
}

}  // namespace distrun::rpc::testing
