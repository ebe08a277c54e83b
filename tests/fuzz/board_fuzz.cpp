// A slot of the board after a rank has overwritten parts of it: the input gives positions and bytes. The result is
// bounded, and equal when read a second time.
#include <algorithm>
#include <cstring>
#include <memory>

#include <distrun/common/board/describe.hpp>
#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/board/slot_writer.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;

constexpr int kWorldSize = 4;
constexpr std::size_t kHead = 4;  // bytes of an instruction: position (3, from the start of the slot), count (1)

// Returns the slot of a rank at work.
std::unique_ptr<board::Slot> slot_at_work() {
  auto slot = std::make_unique<board::Slot>();
  board::SlotWriter writer(slot.get());
  writer.attach();
  writer.enter_phase(wire::Phase::Body);
  board::WaitInfo wait;
  wait.name = "answer";
  wait.rule = board::PeerRule::Any;
  wait.peers.add(2);
  writer.begin_wait(wait, base::TimePoint(std::chrono::seconds(1)), base::TimePoint::max());
  writer.note(board::WaitKind::Barrier, "meet", 3, 7);
  return slot;
}

void scribble(board::Slot& slot, const std::uint8_t* data, std::size_t size) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(&slot);
  while (size > kHead) {
    const std::size_t at = static_cast<std::size_t>(data[0] | data[1] << 8 | data[2] << 16) % sizeof slot;
    const std::size_t count = std::min<std::size_t>({data[3], size - kHead, sizeof slot - at});
    std::memcpy(bytes + at, data + kHead, count);
    data += kHead + count;
    size -= kHead + count;
  }
}

void check(const board::Shown& shown) {
  require(static_cast<int>(shown.phase) < wire::kPhaseCount, "a phase is one of those that there are");
  require(shown.waits.size() <= board::kWaits, "there are no more waits than cells");
  require(shown.operations.size() <= board::kOperations, "there are no more operations than cells");
  for (const board::ShownWait& wait : shown.waits) {
    require(static_cast<int>(wait.kind) < board::kWaitKindCount, "a wait is of a kind that there is");
    for (const int peer : wait.peers) require(peer >= 0 && peer < kWorldSize, "a peer is a rank of this world");
    require(board::describe(wait).find_first_of("\x1b\n") == std::string::npos, "a wait's words are printable");
    require(wait.name.size() <= board::kNameSize && wait.file.size() <= board::kFileSize, "texts have their limits");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::unique_ptr<board::Slot> slot = slot_at_work();
  scribble(*slot, data, size);
  if (const auto shown = board::read(*slot, kWorldSize)) check(*shown);
  if (const auto dump = board::read(slot->crash)) {
    require(dump->stacks.threads.size() <= board::kDumpThreadsMax, "there are no more threads than entries");
    require(dump->stacks.modules.size() <= board::kDumpModulesMax, "there are no more modules than entries");
    for (const wire::RawThread& thread : dump->stacks.threads) {
      require(thread.pcs.size() <= board::kDumpPcsMax, "a stack has its limit");
    }
  }
  return 0;
}
