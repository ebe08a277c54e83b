#include <distrun/runner/report/json/cause_json.hpp>

#include <distrun/runner/record/doctor/cause_text.hpp>
#include <distrun/runner/report/json/json_parts.hpp>

namespace distrun::report {
namespace {

using runner::ChainLink;
using runner::CodePlace;
using runner::HangCause;

void write_place(JsonWriter& out, const CodePlace& place) {
  out.key("place");
  out.begin_object();
  out.field("function", place.function);
  out.field("file", place.file);
  out.field("line", place.line);
  out.end_object();
}

void write_link(JsonWriter& out, const ChainLink& link) {
  out.begin_object();
  write_array(out, "ranks", link.ranks);
  out.field_if(link.pid != 0, "pid", link.pid);
  out.field_if(link.tid != 0, "tid", link.tid);
  out.field("thread", link.thread);
  out.field("command", link.command);
  out.field_if(link.of_rank >= 0, "of_rank", link.of_rank);
  if (!link.host.empty()) out.field("host", link.host);
  out.field("does", link.does);
  write_place(out, link.place);
  out.field("leads", link.leads);
  out.end_object();
}

void write_cause(JsonWriter& out, const HangCause& cause) {
  out.begin_object();
  out.field("kind", name_of(cause.kind));
  out.field("certainty", name_of(cause.certainty));
  out.field("text", verdict_text(cause));
  write_array(out, "ranks", cause.ranks);
  out.field_if(cause.rank >= 0, "rank", cause.rank);
  out.field_if(cause.pid != 0, "pid", cause.pid);
  out.field_if(cause.tid != 0, "tid", cause.tid);
  out.field("thread", cause.thread);
  write_place(out, cause.place);
  out.field_if(cause.lasted.count() > 0, "lasted_ms", cause.lasted);
  write_array(out, "victims", cause.victims);
  out.key("chain");
  out.begin_array();
  for (const ChainLink& link : cause.chain) write_link(out, link);
  out.end_array();
  write_array(out, "evidence", cause.evidence);
  write_array(out, "contradicted_by", cause.contradicted_by);
  out.end_object();
}

void read_ranks(const Json& from, const char* name, std::vector<int>& into) {
  read_each(from, name, [&](const Json& item) { into.push_back(integer_of<int>(name, item)); });
}

void read_place(const Json& from, CodePlace& place) {
  const Json& there = object_at(from, "place");
  read(there, "function", place.function);
  read(there, "file", place.file);
  read(there, "line", place.line);
}

void read_link(const Json& from, ChainLink& link) {
  read_ranks(from, "ranks", link.ranks);
  read(from, "pid", link.pid);
  read(from, "tid", link.tid);
  read(from, "thread", link.thread);
  read(from, "command", link.command);
  read(from, "of_rank", link.of_rank);
  read(from, "host", link.host);
  read(from, "does", link.does);
  read_place(from, link.place);
  read(from, "leads", link.leads);
}

}  // namespace

void write_hang_causes(JsonWriter& out, const std::vector<HangCause>& causes) {
  if (causes.empty()) return;
  out.key("hang_causes");
  out.begin_array();
  for (const HangCause& cause : causes) write_cause(out, cause);
  out.end_array();
}

HangCause read_hang_cause(const Json& from) {
  HangCause cause;
  read_enum(from, "kind", runner::kHangKindCount, cause.kind);
  read_enum(from, "certainty", runner::kCertaintyCount, cause.certainty);
  read_ranks(from, "ranks", cause.ranks);
  read(from, "rank", cause.rank);
  read(from, "pid", cause.pid);
  read(from, "tid", cause.tid);
  read(from, "thread", cause.thread);
  read_place(from, cause.place);
  read(from, "lasted_ms", cause.lasted);
  read_ranks(from, "victims", cause.victims);
  read_each_object(from, "chain", [&](const Json& item) { read_link(item, cause.chain.emplace_back()); });
  read(from, "evidence", cause.evidence);
  read(from, "contradicted_by", cause.contradicted_by);
  return cause;
}

}  // namespace distrun::report
