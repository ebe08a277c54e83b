#include <distrun/runtime/collectives/profiled_call.hpp>

#include <string>

namespace distrun::collectives {
namespace {

template <class Pieces>
std::string elements_in(const Pieces& pieces, DType dtype) {
  std::size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size();
  return std::to_string(bytes / tensor::size_of(dtype));
}

std::string list_of(const std::vector<int>& ranks) {
  std::string text = "[";
  for (const int rank : ranks) text += (text.size() == 1 ? "" : ", ") + std::to_string(rank);
  return text + "]";
}

}  // namespace

profiler::Span profiled(const Call& call, const GroupInfo& group) {
  profiler::Span span("record_param_comms");
  if (!span.is_recorded()) return span;
  span.add_note("Collective name", name_of(call.kind));
  span.add_note("dtype", std::string(tensor::name_of(call.dtype)));
  span.add_note("In msg nelems", elements_in(call.in, call.dtype));
  span.add_note("Out msg nelems", elements_in(call.out, call.dtype));
  span.add_note("Group size", std::to_string(group.size()));
  span.add_note("Process Group Name", group.name);
  span.add_note("Process Group Ranks", list_of(group.ranks));
  return span;
}

}  // namespace distrun::collectives
