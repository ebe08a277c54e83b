// Messages between a coordinator and a node. The first byte says what the input is: an order to start ranks, the sizes
// of the pieces of output that a node sends, with a byte for each, or a part of a trace.
#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/host_environment.hpp>
#include <distrun/runner/nodes/hosted_program.hpp>
#include <distrun/runner/nodes/output_window.hpp>
#include <distrun/runner/nodes/trace_messages.hpp>

#include "fuzz.hpp"

using namespace distrun;
using fuzz::require;

namespace {

bool has_zero(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return text.find('\0') != std::string::npos; });
}

void order(std::string_view bytes) {
  try {
    const auto request = wire::decode<nodes::SpawnRequest>(wire::view_of(bytes.data(), bytes.size()));
    nodes::check(request);
    require(request.ranks_here > 0 && request.first_rank + request.ranks_here <= request.world_size,
            "the ranks of a node are in the world");
    if (!request.program) return;
    const nodes::ProgramOrder& program = *request.program;
    require(!program.arguments.empty() && !has_zero(program.arguments),
            "a program has arguments that exec() takes whole");
    require(!has_zero(program.environment) && !has_zero(program.overrides), "so are its variables");
    const proc::Variables travelled = nodes::travelling(program.environment);
    require(travelled.size() <= program.environment.size(), "no variable is made up");
    require(nodes::travelling(travelled) == travelled, "what has travelled once travels again");
    const proc::Variables all = proc::merged({&program.environment, &program.overrides});
    for (const std::string& variable : program.overrides) {
      require(proc::find_variable(all, proc::name_of_variable(variable)) != nullptr, "what a user sets is set");
    }
  } catch (const Error&) {
  }
}

// The reader takes nothing for pieces with an odd size, and all for others.
void output(std::string_view sizes) {
  std::uint64_t arrived = 0, passed = 0, confirmed = 0;
  nodes::OutputReceiver receiver({[&](const nodes::OutputPiece& piece) { passed += piece.bytes.size(); },
                                  [&](int, std::uint64_t bytes) { confirmed += bytes; }});
  try {
    for (const char size : sizes) {
      const std::size_t count = static_cast<unsigned char>(size) * std::size_t{300};
      receiver.hold(size % 2 != 0);
      receiver.take(0, {1, 0, launch::Stream::Out, std::string(count, 'x')});
      arrived += count;
      require(confirmed <= passed && passed <= arrived, "output is confirmed once it is passed on, and passed on once");
      require(arrived - confirmed < nodes::kOutputWindow + nodes::kOutputPieceMax, "no more than a window is kept");
    }
  } catch (const Error&) {
  }
  receiver.end_holds();
  receiver.pass_on();
  require(passed == arrived, "nothing is dropped");
}

void trace_part(std::string_view bytes) {
  constexpr std::uint64_t kRecords = 4096;
  try {
    const auto part = wire::decode<nodes::TracePart>(wire::view_of(bytes.data(), bytes.size()));
    nodes::check(part, nodes::kTracePartMax, kRecords);
    require(part.slices.size() + part.threads.size() <= nodes::kTracePartMax && part.written <= kRecords,
            "no more of a trace is taken than was asked for");
    for (const trace::Slice& slice : part.slices) {
      require(slice.name.size() + slice.place.size() <= trace::kTextSize, "texts are as short as in a rank's memory");
      require(static_cast<int>(slice.kind) < trace::kKindCount && static_cast<int>(slice.rule) < trace::kPeersCount,
              "enumerators are known");
      require(slice.end_ns == 0 || slice.end_ns >= slice.begin_ns, "no slice ends before it begins");
    }
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view rest = fuzz::text_of(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0: order(rest); break;
    case 1: output(rest); break;
    default: trace_part(rest); break;
  }
  return 0;
}
