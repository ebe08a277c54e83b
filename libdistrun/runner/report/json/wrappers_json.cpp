#include <distrun/runner/report/json/wrappers_json.hpp>

namespace distrun::report {

void write_wrappers(JsonWriter& out, const std::vector<runner::Wrapper>& wrappers) {
  if (wrappers.empty()) return;
  out.key("wrap");
  out.begin_array();
  for (const runner::Wrapper& each : wrappers) {
    out.begin_object();
    if (each.rank >= 0) out.field("rank", each.rank);
    out.field("command", each.command);
    out.end_object();
  }
  out.end_array();
}

void read_wrappers(const Json& from, std::vector<runner::Wrapper>& wrappers) {
  read_each_object(from, "wrap", [&](const Json& item) {
    runner::Wrapper& each = wrappers.emplace_back();
    read(item, "rank", each.rank);
    read(item, "command", each.command);
  });
}

}  // namespace distrun::report
