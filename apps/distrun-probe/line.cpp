#include "line.hpp"

#include <distrun/common/base/error.hpp>

namespace distrun::probe {

std::optional<wire::ProbeOrder> Line::receive_order() {
  const auto frame = line_.receive();
  if (!frame) return std::nullopt;
  if (frame->is(wire::ProbeFrame::Order)) return wire::decode<wire::ProbeOrder>(wire::view_of(frame->payload));
  throw Error(ErrorKind::InvalidArgument, "the probe got a frame that is no order");
}

}  // namespace distrun::probe
