#include <distrun/runner/attempt/conclusion.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include <distrun/runner/attempt/core_file.hpp>
#include <distrun/runner/attempt/python_error.hpp>
#include <distrun/runner/attempt/sanitizer_report.hpp>
#include <distrun/runner/record/judge.hpp>

namespace distrun::runner {
namespace {

// Adds the report that a sanitizer has printed on standard error before it ended the rank.
void add_sanitizer_error(RankRecord& rank, std::string_view standard_error) {
  const bool is_good = rank.outcome.kind == OutcomeKind::Passed || rank.outcome.kind == OutcomeKind::Skipped;
  if (is_good && !rank.bad_end) return;
  auto report = find_sanitizer_report(standard_error);
  if (!report) return;
  RankError error;
  error.type = std::move(report->sanitizer);
  error.text = std::move(report->summary);
  error.file = std::move(report->file);
  error.line = report->line;
  error.is_crash = true;
  rank.errors.insert(rank.errors.begin(), std::move(error));  // more useful than a stack through abort()
}

// Ranks that are threads share the standard error of rank 0. The report in it is of the rank that ended the process.
void add_shared_sanitizer_error(std::vector<RankRecord>& ranks) {
  const auto ended = std::find_if(ranks.begin(), ranks.end(), [](const RankRecord& rank) {
    return rank.outcome.kind != OutcomeKind::Passed && rank.because_of < 0;
  });
  if (ended != ranks.end()) add_sanitizer_error(*ended, ranks.front().err.text);
}

// Names the files that are kept of a rank.
void add_files(RankRecord& rank, const std::vector<std::string>& files) {
  for (const std::string& file : files) rank.notes.push_back({kKeptFile, file});
}

// Names the core files of ranks that crashed. Only ranks on this machine have some: --core is refused for others.
void add_cores(AttemptRecord& attempt, Nanoseconds age) {
  const CorePattern pattern = core_pattern_of_machine();
  std::error_code unknown;
  const std::string here = std::filesystem::current_path(unknown).string();
  for (RankRecord& rank : attempt.ranks) {
    if (may_have_core(rank)) rank.notes.push_back({"core", describe_core(pattern, here, rank.pid, age)});
  }
}

// Adds what Python has printed on the rank's standard error before it ended a program.
void add_python_error(RankRecord& rank) {
  const bool is_crash = rank.outcome.kind == OutcomeKind::Signaled;
  if (rank.outcome.kind != OutcomeKind::Failed && !is_crash) return;
  auto found = find_python_error(rank.err.text);
  if (!found) return;
  RankError error;
  error.type = std::move(found->type);
  error.text = std::move(found->text);
  error.file = std::move(found->file);
  error.line = found->line;
  error.is_crash = is_crash;
  rank.errors.insert(rank.errors.begin(), std::move(error));
}

// Returns the last lines, within a size limit: errors are usually at the end.
std::string_view last_lines(std::string_view text) {
  constexpr int kLines = 50;
  constexpr std::size_t kBytesMax = 64U << 10U;
  std::size_t begin = text.size();
  for (int lines = 0; begin > 0 && text.size() - begin < kBytesMax; --begin) {
    const bool ends_line = text[begin - 1] == '\n';
    if (ends_line && begin < text.size() && ++lines == kLines) break;
  }
  return text.substr(begin);
}

void keep(Captured& stream, std::string_view kept) {
  if (kept.size() == stream.text.size()) return;  // complete
  stream.bytes_dropped = stream.bytes_total - kept.size();
  stream.text = kept.empty() ? ""
                             : "[distrun: " + std::to_string(stream.bytes_dropped) + " bytes left out here]\n" +
                                   std::string(kept);
}

// A program's output was shown as it arrived. For later readers of a failure, keeps the last lines of standard error.
void forget_output(AttemptRecord& attempt) {
  for (RankRecord& rank : attempt.ranks) {
    keep(rank.out, "");
    keep(rank.err, is_good(attempt.verdict) ? "" : last_lines(rank.err.text));
  }
}

}  // namespace

Conclusion::Conclusion(Ranks& ranks, Provisions& provisions, Course& course, StandingWorld* standing,
                       std::function<void()> on_over)
    : ranks_(ranks), provisions_(provisions), course_(course), standing_(standing), on_over_(std::move(on_over)) {}

// A host that failed to set its suite up ends. Ranks that are threads end together.
bool Conclusion::stays(const RankState& rank) const {
  const wire::RunOrder& order = provisions_.order();
  return order.threads || (order.stay && (rank.done_passed || !ranks_.test.is_host()));
}

void Conclusion::settle(RankState& rank) {
  rank.settled = true;
  rank.deadline = base::TimePoint::max();
  const Outcome outcome = outcome_at_done(rank);
  if (is_failure(outcome) && !rank.decided()) course_.failures().fail(rank, outcome);
  course_.failures().settle();
  course_.check_all_idle();
}

void Conclusion::on_idle(bool any_alive) {
  if (!any_alive) {
    sweep();
  } else if (!may_be_kept()) {
    dismiss();
  } else if (ranks_.test.is_host()) {
    keep();  // what it has started and created is for the suite's tests
  } else {
    inspect();
  }
}

// Ranks may die and the run may be cancelled until the answer comes; then it is ignored, or the ranks are dismissed.
void Conclusion::inspect() {
  if (std::exchange(is_inspecting_, true)) return;
  provisions_.inspect(*ranks_.world, [this](bool is_clean) {
    if (!std::exchange(is_inspecting_, false)) return;
    is_clean && !course_.strays().find_all() && may_be_kept() ? keep() : dismiss();
  });
}

// Anything unusual is examined after the ranks have ended, as in other isolations.
bool Conclusion::may_be_kept() const {
  const bool all_here = std::all_of(ranks_.all.begin(), ranks_.all.end(), [](const RankState& rank) {
    return rank.alive() && rank.settled && !rank.used_up;
  });
  const AttemptRecord& record = ranks_.log.record();
  const bool fine = course_.is_running() && course_.failures().first() < 0 && !record.cancelled &&
                    record.leaks.empty() && record.infra_error.empty();
  return provisions_.order().stay && all_here && fine;
}

void Conclusion::keep() {
  ranks_.clocks.stop();
  kept_ = true;
  auto held = provisions_.keep(*ranks_.world, sets_up_suite_);
  if (sets_up_suite_) standing_->hold(std::move(held));
  for (RankState& rank : ranks_.all) {
    rank.record.outcome = outcome_at_done(rank);
    rank.record.ended = ranks_.log.age();
    course_.failures().decide(rank);
    ranks_.log.tell_end(rank);
  }
  finish({});
}

// Settled ranks end now, within the bound of their exit phase or that of the attempt's state.
void Conclusion::dismiss() {
  is_inspecting_ = false;
  for (RankState& rank : ranks_.all) {
    if (!rank.alive()) continue;
    rank.settled = false;
    ranks_.messaging.send(rank.record.rank, wire::ControlFrame::Dismiss);
    ranks_.log.enter_phase(rank, wire::Phase::Exit);
  }
  ranks_.clocks.arm();
}

void Conclusion::sweep() {
  is_inspecting_ = false;
  course_.begin_sweep();
  // A child that returned from the body reports that and ends a moment later.
  const bool awaits_more = course_.failures().first() < 0 || course_.strays().has_found();
  const bool patient = awaits_more && !ranks_.log.record().cancelled;
  provisions_.sweep(*ranks_.world, patient, [this](std::vector<Leak> leaks) { finish(std::move(leaks)); });
}

void Conclusion::finish(std::vector<Leak> leaks) {
  AttemptRecord& record = ranks_.log.record();
  course_.strays().find_all();  // a stray child may have outlived its rank
  course_.failures().find_root_causes();
  course_.end();
  complete_ranks();
  const bool hold = kept_ && sets_up_suite_;
  const std::string stuck = hold ? "" : provisions_.clear();
  if (!stuck.empty()) leaks.push_back({LeakKind::File, stuck, false});
  if (!ranks_.run.settings.leaks_off) std::move(leaks.begin(), leaks.end(), std::back_inserter(record.leaks));
  conclude(record);
  if (!ranks_.run.settings.keep_output) forget_output(record);
  record.duration = ranks_.log.age();
  hand_over_trace();
  ranks_.run.events.on_attempt_end(ranks_.test.id, record);
  on_over_();
}

// Moves the ranks' records into that of the attempt.
void Conclusion::complete_ranks() {
  ranks_.world->finish_output();
  ranks_.log.record().ranks.reserve(ranks_.all.size());
  for (RankState& rank : ranks_.all) {
    rank.record.out = ranks_.world->standard_output(rank.record.rank);
    rank.record.err = ranks_.world->standard_error(rank.record.rank);
    course_.strays().complete(rank);
    add_files(rank.record, provisions_.keep_files(rank.record.rank));
    if (ranks_.test.is_program()) add_python_error(rank.record);
    if (!provisions_.order().threads) add_sanitizer_error(rank.record, rank.record.err.text);
    ranks_.log.record().ranks.push_back(std::move(rank.record));
  }
  if (provisions_.order().threads) add_shared_sanitizer_error(ranks_.log.record().ranks);
  if (ranks_.run.settings.core) add_cores(ranks_.log.record(), ranks_.log.age());
}

// The board still shows what a thread was waiting for when its rank ended, even if its trace was cut.
void Conclusion::hand_over_trace() {
  std::vector<trace::RankTrace> traces = provisions_.take_traces();
  if (traces.empty()) return;
  AttemptRecord& record = ranks_.log.record();
  std::vector<RankView> views;
  for (const RankRecord& rank : record.ranks) views.push_back({rank.rank, ranks_.world->shown(rank.rank)});
  record.trace = ranks_.run.traces->write({ranks_.test.plugin, ranks_.test.id, record, ranks_.log.started(),
                                           ranks_.clocks.now(), std::move(traces), std::move(views)});
}

}  // namespace distrun::runner
