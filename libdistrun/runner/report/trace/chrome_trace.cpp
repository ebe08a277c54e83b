#include <distrun/runner/report/trace/chrome_trace.hpp>

#include <algorithm>

#include <distrun/runner/report/json/json_writer.hpp>
#include <distrun/runner/report/trace/flows.hpp>
#include <distrun/runner/report/trace/rank_tracks.hpp>

namespace distrun::report {
namespace {

constexpr Nanoseconds kShortest{1};  // of a slice: viewers close an empty slice before they can nest others in it

class Writer {
 public:
  std::string write(const runner::TracedAttempt& traced) {
    const std::vector<RankTracks> ranks = rank_tracks(traced);
    out_.begin_object();
    out_.field("displayTimeUnit", "ms");
    write_about(traced, ranks);
    out_.key("traceEvents");
    out_.begin_array();
    for (const RankTracks& rank : ranks) write(rank);
    std::int64_t number = 0;
    for (const Flow& flow : flows_of(ranks)) write(flow, ++number);
    out_.end_array();
    out_.end_object();
    out_.end_line();
    return out_.take();
  }

 private:
  // Describes the trace to a later reader of the file.
  void write_about(const runner::TracedAttempt& traced, const std::vector<RankTracks>& ranks) {
    out_.key("otherData");
    out_.begin_object();
    out_.field("test", traced.test);
    out_.field("plugin", traced.plugin);
    out_.field("attempt", traced.attempt.n);
    out_.field("verdict", name_of(traced.attempt.verdict));
    out_.field("message", traced.attempt.message);
    for (const RankTracks& rank : ranks) {
      const std::string name = "rank " + std::to_string(rank.rank);
      if (rank.not_kept > 0) out_.field("older records not kept of " + name, rank.not_kept);
      if (!rank.why_missing.empty()) out_.field("no records of " + name, rank.why_missing);
      if (rank.clock_error.count() > 0) out_.field("error of the times of " + name, base::human(rank.clock_error));
    }
    out_.end_object();
  }

  // Writes microseconds with three decimals, using the milliseconds of a duration a thousand times as long.
  void time(const char* name, Nanoseconds at) { out_.field(name, at * 1000); }

  void begin_event(const char* phase, const RankTracks& rank, std::int64_t track) {
    out_.begin_object();
    out_.field("ph", phase);
    out_.field("pid", rank.process);
    out_.field("tid", track);
  }

  template <class T>
  void write_fact(const RankTracks& rank, std::int64_t track, const char* fact, const char* key, const T& value) {
    begin_event("M", rank, track);
    out_.field("name", fact);
    out_.key("args");
    out_.begin_object();
    out_.field(key, value);
    out_.end_object();
    out_.end_object();
  }

  void write(const RankTracks& rank) {
    const std::string host = rank.host.empty() ? "" : " on " + rank.host;
    write_fact(rank, 0, "process_name", "name", "rank " + std::to_string(rank.rank) + host);
    write_fact(rank, 0, "process_sort_index", "sort_index", rank.rank);
    for (const Track& track : rank.tracks) {
      write_fact(rank, track.number, "thread_name", "name", track.name);
      for (const TraceSlice& slice : track.slices) write(rank, track, slice);
    }
    if (!rank.outcome.empty()) write_outcome(rank);
  }

  void write(const RankTracks& rank, const Track& track, const TraceSlice& slice) {
    begin_event("X", rank, track.number);
    out_.field("name", slice.name);
    out_.field("cat", slice.category);
    time("ts", slice.begin);
    time("dur", std::max(slice.end - slice.begin, kShortest));
    if (slice.is_open) out_.field("cname", "terrible");
    if (slice.is_open || slice.id != 0 || !slice.place.empty()) write_arguments(slice);
    out_.end_object();
  }

  void write_arguments(const TraceSlice& slice) {
    out_.key("args");
    out_.begin_object();
    if (slice.is_open) out_.field("open", true);
    if (slice.id != 0) out_.field("number", slice.id);
    if (!slice.place.empty()) out_.field("at", slice.place);
    out_.end_object();
  }

  // Marks the end of the process.
  void write_outcome(const RankTracks& rank) {
    begin_event("i", rank, rank.tracks.empty() ? 0 : rank.tracks.back().number);
    out_.field("name", rank.outcome);
    out_.field("cat", "outcome");
    out_.field("s", "p");
    time("ts", rank.ended);
    out_.end_object();
  }

  // Places the arrow a little after the start of each slice, so that a viewer does not attach it to the previous slice.
  void write(const Flow& flow, std::int64_t number) {
    for (std::size_t i = 0; i < flow.size(); ++i) {
      const FlowStop& stop = flow[i];
      const bool is_last = i + 1 == flow.size();
      begin_event(i == 0 ? "s" : is_last ? "f" : "t", *stop.rank, stop.track->number);
      out_.field("name", "call");
      out_.field("cat", "flow");
      out_.field("id", number);
      if (is_last) out_.field("bp", "e");
      time("ts", stop.slice->begin + std::min(Nanoseconds(10), (stop.slice->end - stop.slice->begin) / 2));
      out_.end_object();
    }
  }

  JsonWriter out_{JsonWriter::Layout::Line};
};

}  // namespace

std::string chrome_trace(const runner::TracedAttempt& traced) { return Writer().write(traced); }

}  // namespace distrun::report
