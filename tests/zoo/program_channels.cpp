// Ranks that wait in pipes, sockets and queues.
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "program.hpp"

using namespace zoo;

namespace {

struct Pipe {
  int out = -1;
  int in = -1;
};

Pipe make_pipe() {
  int ends[2];
  require(pipe(ends) == 0, "pipe");
  return {ends[0], ends[1]};
}

sockaddr_un unix_address(const char* name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, shared(name).c_str(), sizeof address.sun_path - 1);
  return address;
}

int listen_unix(const char* name, int backlog) {
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = unix_address(name);
  require(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "bind");
  require(listen(listener, backlog) == 0, "listen");
  announce(std::string(name) + "_listens");
  return listener;
}

int connect_unix(const char* name) {
  await(std::string(name) + "_listens");
  const int line = socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = unix_address(name);
  require(connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connect");
  return line;
}

int listen_tcp() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  require(bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(listener, 4) == 0, "bind");
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::ofstream(shared("port")) << address.sin_port;
  announce("tcp_listens");
  return listener;
}

int connect_tcp() {
  await("tcp_listens");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::ifstream(shared("port")) >> address.sin_port;
  const int line = socket(AF_INET, SOCK_STREAM, 0);
  require(connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connect");
  return line;
}

// Returns a connection between ranks 0 and 1.
int unix_line() { return me() == 0 ? accept(listen_unix("line", 4), nullptr, nullptr) : connect_unix("line"); }
int tcp_line() { return me() == 0 ? accept(listen_tcp(), nullptr, nullptr) : connect_tcp(); }

// Sends more than any buffer takes.
void send_much(int line) {
  const std::vector<char> much(64 << 20);
  send(line, much.data(), much.size(), 0);  // culprit: sockets_both_send
  require(false, "it was taken");
}

void read_byte(int line) {
  char byte = 0;
  require(read(line, &byte, 1) != 1, "a byte has come");  // culprit: sockets_both_receive
  require(false, "the line has ended");
}

}  // namespace

// "After you": each answer asks for another one.
ZOO_PROGRAM(messages_without_end) {
  const int line = unix_line();
  char byte = '?';
  if (me() == 0) require(write(line, &byte, 1) == 1, "write");
  while (read(line, &byte, 1) == 1 && byte != '!') {  // culprit: messages_without_end
    usleep(500);                                      // culprit: messages_without_end
    require(write(line, "?", 1) == 1, "write");       // culprit: messages_without_end
  }
}

// Rank 1 holds the writing end itself.
ZOO_PROGRAM(pipe_own_end) {
  if (me() == 0) return;
  const Pipe own = make_pipe();
  char byte = 0;
  require(read(own.out, &byte, 1) == 1, "nothing came");  // culprit: pipe_own_end
}

ZOO_PROGRAM(pipe_full) {
  if (me() == 0) return;
  const Pipe out = make_pipe();
  if (fork_child() == 0) {
    close(out.in);
    sleep(kPatienceS);  // culprit: pipe_full
    _exit(0);
  }
  close(out.out);
  const std::vector<char> much(1 << 20);
  require(write(out.in, much.data(), much.size()) > 0, "nothing was taken");
}

ZOO_PROGRAM(pipe_full_own_end) {
  if (me() == 0) return;
  const Pipe own = make_pipe();
  const std::vector<char> much(1 << 20);
  require(write(own.in, much.data(), much.size()) > 0, "nothing was taken");  // culprit: pipe_full_own_end
}

ZOO_PROGRAM(fifo_without_a_writer) {
  if (me() == 0) return;
  require(mkfifo(shared("fifo").c_str(), 0600) == 0, "mkfifo");
  const int fifo = open(shared("fifo").c_str(), O_RDONLY);  // culprit: fifo
  require(fifo < 0, "it was opened");
}

// Rank 1 has opened the FIFO and reads nothing.
ZOO_PROGRAM(fifo_full) {
  if (me() == 0) {
    require(mkfifo(shared("fifo").c_str(), 0600) == 0, "mkfifo");
    announce("fifo_made");
    const int fifo = open(shared("fifo").c_str(), O_WRONLY);
    const std::vector<char> much(1 << 20);
    require(write(fifo, much.data(), much.size()) > 0, "nothing was taken");
    return;
  }
  await("fifo_made");
  require(open(shared("fifo").c_str(), O_RDONLY) >= 0, "open");
  sleep(kPatienceS);  // culprit: fifo_full
}

ZOO_PROGRAM(unix_sockets_both_receive) { read_byte(unix_line()); }
ZOO_PROGRAM(tcp_sockets_both_receive) { read_byte(tcp_line()); }
ZOO_PROGRAM(unix_sockets_both_send) { send_much(unix_line()); }
ZOO_PROGRAM(tcp_sockets_both_send) { send_much(tcp_line()); }

ZOO_PROGRAM(tcp_peer_sleeps) {
  const int line = tcp_line();
  if (me() == 1) sleep(kPatienceS);  // culprit: tcp_peer_sleeps
  char byte = 0;
  require(read(line, &byte, 1) == 1, "nothing came");
}

// Rank 0 has ended well without connecting.
ZOO_PROGRAM(accept_without_a_client) {
  if (me() == 0) return;
  accept(listen_unix("service", 4), nullptr, nullptr);  // culprit: accept
  require(false, "a client has come");
}

// A Unix socket with a full queue makes its clients wait until rank 0 accepts, which it does not.
ZOO_PROGRAM(connect_to_a_full_queue) {
  if (me() == 0) {
    listen_unix("service", 0);
    sleep(kPatienceS);  // culprit: full_queue
  }
  for (int i = 0; i < 3; ++i) connect_unix("service");
}

ZOO_PROGRAM(epoll_without_events) {
  if (me() == 0) return;
  const int set = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  require(epoll_ctl(set, EPOLL_CTL_ADD, make_pipe().out, &event) == 0, "epoll_ctl");
  epoll_wait(set, &event, 1, -1);  // culprit: epoll
  require(false, "an event has come");
}

ZOO_PROGRAM(eventfd_not_signalled) {
  if (me() == 0) return;
  const int event = eventfd(0, 0);
  eventfd_t value = 0;
  require(eventfd_read(event, &value) != 0, "it was signalled");  // culprit: eventfd
}

ZOO_PROGRAM(message_queue_empty) {
  if (me() == 0) return;
  const std::string name = "/zoo" + std::to_string(getpid());
  const mqd_t queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, nullptr);
  require(queue >= 0, "mq_open");
  mq_unlink(name.c_str());
  std::vector<char> message(8192);
  mq_receive(queue, message.data(), message.size(), nullptr);  // culprit: queue
  require(false, "a message has come");
}
