#pragma once
// The probe's connection to the coordinator: one order in, frames out, over a blocking stream socket. Main thread only.
#include <optional>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe {

class Line {
 public:
  explicit Line(base::Fd socket) noexcept : socket_(std::move(socket)) {}

  // Returns nullopt if the coordinator has closed the line. Throws Error{InvalidArgument} for anything but an order.
  std::optional<wire::ProbeOrder> receive_order();
  // Throws Error{Disconnected} if the coordinator is gone.
  template <class T>
  void send(wire::ProbeFrame kind, const T& message) {
    send_bytes(wire::pack(kind, 0, message));
  }

 private:
  void send_bytes(const wire::Bytes& bytes);

  base::Fd socket_;
};

}  // namespace distrun::probe
