#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include <distrun/runner/report/text/examination_text.hpp>

using namespace distrun;
using runner::HangCause;
using runner::HangKind;
using runner::doctor::Examination;

namespace {

// Process 815 in a wait, or at work.
HangCause cause_of(HangKind kind, const std::string& does) {
  HangCause cause;
  cause.kind = kind;
  cause.certainty = kind == HangKind::Unknown ? runner::Certainty::Unknown : runner::Certainty::Likely;
  cause.pid = 815;
  cause.tid = 815;
  cause.thread = "815 (train)";
  runner::ChainLink& link = cause.chain.emplace_back();
  link.pid = 815;
  link.command = "train";
  link.does = does;
  return cause;
}

std::string text_of(const Examination& examination) { return evidence::plain(report::examination_lines(examination)); }

}  // namespace

TEST_CASE("the doctor's text begins with the first cause, its evidence, and what would contradict it") {
  Examination examination;
  examination.causes = {cause_of(HangKind::Stopped, "is stopped (SIGSTOP)"), cause_of(HangKind::Unknown, "waits")};
  examination.causes.front().evidence = {"it was seen twice"};
  examination.causes.front().contradicted_by = {"it is continued"};
  examination.unseen = {"process 9: there is no such process"};
  CHECK(text_of(examination) ==
        "stopped (likely): process 815 (train) is stopped (SIGSTOP)\n"
        "look at thread 815 (train) of process 815\n"
        "  evidence: it was seen twice\n"
        "  contradicted if it is continued\n"
        "also unknown cause: process 815 (train) waits; look at thread 815 (train) of process 815\n"
        "cannot look at process 9: there is no such process\n");
}

TEST_CASE("the doctor's text says that there is no hang, and what is seen instead") {
  Examination examination;
  examination.causes = {cause_of(HangKind::Slow, "runs")};
  examination.causes.front().contradicted_by = {"it stops"};
  CHECK(text_of(examination) ==
        "no hang was found: process 815 (train) runs\n"
        "look at thread 815 (train) of process 815\n");
  CHECK(text_of({}) == "no hang was found: no thread was seen\n");
}

TEST_CASE("the doctor's text has one printable line for each line of it") {
  Examination examination;
  examination.causes = {cause_of(HangKind::Stopped, "is\n\x1b[31m")};
  examination.causes.front().evidence = {"a\nb"};
  const std::string text = text_of(examination);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}
