#include <distrun/runner/nodes/trace_fetch.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/remote_node.hpp>

namespace distrun::nodes {
namespace {

std::int64_t time_by(const io::Loop& loop) { return loop.clock().now().time_since_epoch().count(); }

}  // namespace

TraceFetch::TraceFetch(io::Loop& loop, std::uint32_t world, std::uint32_t number, std::uint64_t records,
                       std::vector<Source> sources, OnTraces on_traces)
    : loop_(loop), world_(world), number_(number), records_(records), on_traces_(std::move(on_traces)) {
  for (Source& source : sources) {
    traces_.resize(traces_.size() + static_cast<std::size_t>(source.count));
    progresses_.push_back({std::move(source), false, {}, 0, {}});
  }
}

void TraceFetch::begin() {
  for (Progress& each : progresses_) {
    each.source.why_not.empty() ? ask(each, each.source.first, 0, 0) : miss(each, each.source.why_not);
  }
  check_all_over();
}

TraceFetch::Progress* TraceFetch::find(int node) {
  const auto found = std::find_if(progresses_.begin(), progresses_.end(),
                                  [node](const Progress& each) { return each.source.node->number() == node; });
  return found == progresses_.end() ? nullptr : &*found;
}

void TraceFetch::ask(Progress& progress, int rank, std::uint64_t first, std::uint32_t count) {
  progress.asked = {world_, number_, rank, first, count};
  progress.asked_ns = time_by(loop_);
  try {
    progress.source.node->tell(wire::NodeFrame::ReadTrace, progress.asked);
  } catch (const Error& error) {
    miss(progress, error.what());  // it does not read: it is lost soon
  }
}

void TraceFetch::take(int node, TracePart part) {
  if (part.fetch < number_) return;
  Progress* const progress = find(node);
  const bool is_expected = progress != nullptr && !progress->is_over && part.fetch == number_ &&
                           part.rank == progress->asked.rank && part.first == progress->asked.first;
  if (!is_expected) throw Error(ErrorKind::InvalidArgument, "a part of a trace that was not asked for");
  check(part, progress->asked.count, records_);
  progress->clock.add({progress->asked_ns, part.received_ns, part.sent_ns, time_by(loop_)});
  trace::RankTrace& trace = trace_of(part.rank);
  if (!part.why_missing.empty()) {
    trace.why_missing = part.why_missing + " (on " + progress->source.node->host() + ")";
    trace.is_failure = true;
  }
  trace.area.not_kept = part.not_kept;
  std::move(part.slices.begin(), part.slices.end(), std::back_inserter(trace.area.slices));
  for (NamedThread& thread : part.threads) trace.area.threads[thread.tid] = std::move(thread.name);
  go_on(*progress, part.written);
  check_all_over();
}

// Asks for the rest of the rank, then for the next rank.
void TraceFetch::go_on(Progress& progress, std::uint64_t written) {
  const Source& source = progress.source;
  const std::uint64_t next = progress.asked.first + progress.asked.count;
  if (next < written) return ask(progress, progress.asked.rank, next, kTracePartMax);
  if (progress.asked.rank + 1 < source.first + source.count) {
    return ask(progress, progress.asked.rank + 1, 0, kTracePartMax);
  }
  convert(progress);
  progress.is_over = true;
}

void TraceFetch::convert(Progress& progress) {
  const base::TimePoint now = loop_.clock().now();
  std::optional<Offset> ahead = progress.clock.at(now);
  if (ahead) ahead->offset = -ahead->offset;  // of this machine's clock
  const std::optional<Offset> of_link = progress.source.node->ahead();
  if (of_link && (!ahead || of_link->error < ahead->error)) ahead = of_link;
  if (!ahead) return miss(progress, "the clock of " + progress.source.node->host() + " is not known");
  const ClockLine line(progress.source.begin, {*ahead, now});
  for (int rank = progress.source.first; rank < progress.source.first + progress.source.count; ++rank) {
    trace::RankTrace& trace = trace_of(rank);
    trace.clock_error = line.error();
    for (trace::Slice& slice : trace.area.slices) {
      slice.begin_ns = line.here(slice.begin_ns);
      if (slice.end_ns != 0) slice.end_ns = std::max(line.here(slice.end_ns), slice.begin_ns);
    }
  }
}

void TraceFetch::miss(Progress& progress, const std::string& why) {
  progress.is_over = true;
  for (int rank = progress.source.first; rank < progress.source.first + progress.source.count; ++rank) {
    trace_of(rank) = {{}, why, false, {}};
  }
}

void TraceFetch::lose(int node, const std::string& why) {
  Progress* const progress = find(node);
  if (progress == nullptr || progress->is_over) return;
  miss(*progress, why);
  check_all_over();
}

void TraceFetch::check_all_over() {
  const bool is_over = std::all_of(progresses_.begin(), progresses_.end(), [](const Progress& p) { return p.is_over; });
  if (is_over && on_traces_) std::exchange(on_traces_, {})(std::move(traces_));
}

}  // namespace distrun::nodes
