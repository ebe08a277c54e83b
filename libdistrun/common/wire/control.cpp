#include <distrun/common/wire/control.hpp>

namespace distrun::wire {

const char* name_of(Phase phase) noexcept {
  switch (phase) {
    case Phase::Spawn: return "spawn";
    case Phase::Load: return "load";
    case Phase::Rendezvous: return "rendezvous";
    case Phase::SetUp: return "set-up";
    case Phase::Body: return "body";
    case Phase::TearDown: return "tear-down";
    case Phase::Exit: return "exit";
  }
  return "unknown";
}

}  // namespace distrun::wire
