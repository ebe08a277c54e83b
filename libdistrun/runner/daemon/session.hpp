#pragma once
// One connection of a client, the daemon's end. It may cost only so much: it has 5 s to say hello and then 5 s to say
// what it wants, what it sends is bounded, and if it does not read what it is told it loses the connection. Lives on:
// the daemon's loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/io/frame_socket.hpp>
#include <distrun/common/wire/daemon.hpp>

namespace distrun::daemon {

class Session {
 public:
  // What they throw is told to the client, as a refusal that ends the connection.
  struct Handlers {
    std::function<void(wire::Submission, std::vector<base::Fd>)> on_submit;  // once at most
    std::function<void(int)> on_signal;
    std::function<void(const std::string&)> on_cancel;
    std::function<void()> on_question;
    std::function<void(const std::string& why)> on_refusal;  // it has been told why
    // Once, and nothing comes after it. Must not destroy the session: it is on the stack.
    std::function<void()> on_closed;
  };

  Session(io::Loop& loop, base::Fd socket, Handlers handlers);

  template <class T>
  void send(wire::DaemonFrame kind, const T& message) {
    send_packed(wire::pack(kind, 0, message));
  }
  // Says why, if there is something to say, and ends the connection.
  void refuse(const std::string& why);
  void close();

 private:
  void send_packed(wire::Bytes packed);
  void on_frame(const wire::Frame& frame);
  void greet(const wire::Frame& frame);
  void take(const wire::Frame& frame);
  void submit(const wire::Frame& frame);
  void count_request(int limit);

  io::Loop& loop_;
  Handlers handlers_;
  bool greeted_ = false;
  bool has_run_ = false;
  bool closed_ = false;
  int requests_ = 0;
  io::Alarm deadline_;
  io::FrameSocket socket_;
};

}  // namespace distrun::daemon
