#pragma once
// A nonblocking socket with waits that end at a deadline, or when another descriptor becomes readable.
#include <string>
#include <string_view>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>

namespace distrun::nodes {

// Returns the time left in milliseconds for poll(), rounded up.
int left_ms(base::TimePoint deadline);
// Throws Error{Cancelled}: what is waited for will not come.
[[noreturn]] void throw_gave_up();

class PatientSocket {
 public:
  // Waits until `deadline`, and until `give_up` is readable; -1: none.
  PatientSocket(base::Fd socket, base::TimePoint deadline, int give_up) noexcept
      : socket_(std::move(socket)), deadline_(deadline), give_up_(give_up) {}

  // Sends some bytes, which always fit. Throws Error{Disconnected}.
  void send(std::string_view bytes) const;
  // Returns exactly `size` bytes. Throws Error{Disconnected} "it closed the connection", Error{Timeout} "it does not
  // answer", Error{Cancelled}.
  std::string receive(std::size_t size) const;
  base::Fd take() noexcept { return std::move(socket_); }

 private:
  void wait_for_bytes() const;

  base::Fd socket_;
  base::TimePoint deadline_;
  int give_up_;
};

}  // namespace distrun::nodes
