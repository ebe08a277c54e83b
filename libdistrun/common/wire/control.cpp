#include <distrun/common/wire/control.hpp>

namespace distrun::wire {

bool is_known(ControlFrame kind) noexcept {
  switch (kind) {
    case ControlFrame::Hello:
    case ControlFrame::Phase:
    case ControlFrame::Error:
    case ControlFrame::Skip:
    case ControlFrame::Stacks:
    case ControlFrame::BarrierEnter:
    case ControlFrame::Message:
    case ControlFrame::Note:
    case ControlFrame::Measure:
    case ControlFrame::Done:
    case ControlFrame::ReceiveWait:
    case ControlFrame::Leak:
    case ControlFrame::ReceiveEnd:
    case ControlFrame::Run:
    case ControlFrame::DumpStacks:
    case ControlFrame::PeerFailed:
    case ControlFrame::BarrierRelease:
    case ControlFrame::Finish:
    case ControlFrame::PeerFinished:
    case ControlFrame::PeerDied:
    case ControlFrame::Dismiss: return true;
  }
  return false;
}

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
