#include "model/packet.hpp"

namespace distrun::rref::model {
namespace {

std::string text(const ForkMessage& m) {
  const std::string number = " #" + std::to_string(m.number);
  const std::string names = number + " of fork " + brief(m.fork) + " of " + brief(m.rref);
  switch (m.kind) {
    case ForkMessageKind::ForkRequest: return "ForkRequest" + names;
    case ForkMessageKind::ChildAccept: return "ChildAccept" + names;
    case ForkMessageKind::UserDelete: return "UserDelete" + names;
    case ForkMessageKind::Ack: return "Ack" + number + (m.why.empty() ? "" : ", the value is gone: " + m.why);
  }
  return "?";
}

}  // namespace

std::string text(const Packet& packet) {
  const std::string way = " " + std::to_string(packet.from) + "->" + std::to_string(packet.to);
  const std::string names = way + " fork " + brief(packet.fork.fork) + " of " + brief(packet.fork.rref);
  switch (packet.kind) {
    case Packet::Kind::Create: return "creation" + names;
    case Packet::Kind::Created: return "answer to the creation" + names;
    case Packet::Kind::Fork:
      return "call with" + names + "@" + std::to_string(packet.fork.owner) +
             (packet.shared_of == ForkId{} ? "" : ", child of " + brief(packet.shared_of)) + ", lineage " +
             std::to_string(packet.lineage);
    case Packet::Kind::Message: return "message" + way + " " + text(packet.message);
  }
  return "?";
}

}  // namespace distrun::rref::model
