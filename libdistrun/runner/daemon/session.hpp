#pragma once
// The daemon's end of a client's connection. Its cost is bounded: a client has 5 s to say hello and 5 s more for a
// request, its input is limited, and it is disconnected if it does not read. Lives on: the daemon's loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/io/frame_socket.hpp>
#include <distrun/common/wire/daemon.hpp>

namespace distrun::daemon {

class Session {
 public:
  // An Error thrown by a handler is sent to the client as a refusal, which ends the connection.
  struct Handlers {
    std::function<void(wire::Submission, std::vector<base::Fd>)> on_submit;  // at most once
    std::function<void(int)> on_signal;
    std::function<void(const std::string&)> on_cancel;
    std::function<void()> on_question;
    std::function<void(const std::string& why)> on_refusal;  // the client has been sent the reason
    // Called once, as the last. Must not destroy the session, which is on the stack.
    std::function<void()> on_closed;
  };

  Session(io::Loop& loop, base::Fd socket, Handlers handlers);

  template <class T>
  void send(wire::DaemonFrame kind, const T& message) {
    send_packed(wire::pack(kind, 0, message));
  }
  // Sends the reason and ends the connection.
  void refuse(const std::string& why);
  void close();

 private:
  void send_packed(wire::Bytes packed);
  void on_frame(const wire::Frame& frame);
  void greet(const wire::Frame& frame);
  void take(const wire::Frame& frame);
  void submit(const wire::Frame& frame);
  void count_request(int limit);

  Handlers handlers_;
  bool greeted_ = false;
  bool has_run_ = false;
  bool closed_ = false;
  int requests_ = 0;
  io::Alarm deadline_;
  io::FrameSocket socket_;
};

}  // namespace distrun::daemon
