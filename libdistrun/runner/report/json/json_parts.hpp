#pragma once
// Writes the parts of a record that the event stream and the summary share. Each function writes one value; those named
// *_fields write fields into an open object.
#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/json/json_writer.hpp>

namespace distrun::report {

void write_machine(JsonWriter& out, const runner::Machine& machine);
void write_settings(JsonWriter& out, const runner::Settings& settings);
void write_totals(JsonWriter& out, const runner::Totals& totals);
void write_variant(JsonWriter& out, const runner::Variant& variant);
// Writes an object, in order of declaration.
void write_parameters(JsonWriter& out, const std::vector<wire::KeyValue>& parameters);
// Writes an array of {key, value}, since keys may repeat.
void write_key_values(JsonWriter& out, const std::vector<wire::KeyValue>& pairs);
void write_measures(JsonWriter& out, const std::vector<wire::Measure>& measures);  // with its key
void write_leaks(JsonWriter& out, const std::vector<runner::Leak>& leaks);

void write_problem_fields(JsonWriter& out, const runner::Problem& problem);
void write_error_fields(JsonWriter& out, const runner::RankError& error);
// Writes the result of a rank: outcome, exit_code, signal, skip_code, reason, phase, checks, times, cause.
void write_outcome_fields(JsonWriter& out, const runner::RankRecord& rank);
// Writes where the rank ran; nothing if that is this machine.
void write_host(JsonWriter& out, const runner::RankRecord& rank);

template <class Items>
void write_array(JsonWriter& out, std::string_view name, const Items& items) {
  out.key(name);
  out.begin_array();
  for (const auto& item : items) out.value(item);
  out.end_array();
}

// Writes an object for each item; `write` writes its fields.
template <class Items, class Write>
void write_objects(JsonWriter& out, const Items& items, Write write) {
  out.begin_array();
  for (const auto& item : items) {
    out.begin_object();
    write(item);
    out.end_object();
  }
  out.end_array();
}

}  // namespace distrun::report
