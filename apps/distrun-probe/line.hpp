#pragma once
// The probe's connection to the coordinator: one order in, frames out. Main thread only.
#include <optional>
#include <utility>

#include <distrun/common/wire/frame_line.hpp>
#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe {

class Line {
 public:
  explicit Line(base::Fd socket) noexcept : line_(std::move(socket), wire::kProtocol<wire::ProbeFrame>) {}

  // Returns nullopt if the coordinator has closed the line. Throws Error{InvalidArgument} for anything but an order.
  std::optional<wire::ProbeOrder> receive_order();
  // Throws Error{Disconnected} if the coordinator is gone.
  template <class T>
  void send(wire::ProbeFrame kind, const T& message) {
    line_.send(wire::pack(kind, 0, message));
  }

 private:
  wire::FrameLine line_;
};

}  // namespace distrun::probe
