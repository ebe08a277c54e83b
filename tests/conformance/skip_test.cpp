// Skips: by exit code, by exception, and before any rank exists.
#include <catch2/catch.hpp>

#include <distrun/common/wire/skip_table.hpp>

#include <set>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

struct Row {
  int code;
  const char* name;
  const char* message;
};

// Written from the list of requirements and not from the tested table.
const Row kRows[] = {
    {72, "backend_unavailable", "Skipped because distributed backend is not available."},
    {73, "small_worldsize", "Skipped due to small world size."},
    {74, "no_cuda", "CUDA is not available."},
    {75, "multi-gpu-1", "Need at least 1 CUDA device"},
    {76, "nccl", "c10d not compiled with NCCL support"},
    {77, "multi-gpu-2", "Need at least 2 CUDA devices"},
    {78, "skipIfRocm", "Test skipped for ROCm"},
    {79, "no_peer_access", "Test skipped because no GPU peer access"},
    {80, "multi-gpu-3", "Need at least 3 CUDA devices"},
    {81, "multi-gpu-4", "Need at least 4 CUDA devices"},
    {82, "multi-gpu-5", "Need at least 5 CUDA devices"},
    {83, "multi-gpu-6", "Need at least 6 CUDA devices"},
    {84, "multi-gpu-7", "Need at least 7 CUDA devices"},
    {85, "multi-gpu-8", "Need at least 8 CUDA devices"},
    {86, "generic", "Test skipped at subprocess level, look at subprocess log for skip reason"},
    {87, "odd_worldsize", "Skipped due to odd world size."},
    {88, "importerror", "Test skipped due to missing import"},
};

}  // namespace

TEST_CASE("a test is skipped with the table's message if all ranks exit with its code",
          "[row:skip_table/backend_unavailable][row:skip_table/small_worldsize][row:skip_table/odd_worldsize]"
          "[row:skip_table/no_cuda][row:skip_table/multi-gpu-1][row:skip_table/multi-gpu-2]"
          "[row:skip_table/multi-gpu-3][row:skip_table/multi-gpu-4][row:skip_table/multi-gpu-5]"
          "[row:skip_table/multi-gpu-6][row:skip_table/multi-gpu-7][row:skip_table/multi-gpu-8]"
          "[row:skip_table/nccl][row:skip_table/skipIfRocm][row:skip_table/no_peer_access]"
          "[row:skip_table/generic][row:skip_table/importerror]"
          "[row:scenario/all-ranks-skip-alike][row:multiprocess_join/verdict-4-skip]") {
  const CaseRun run = run_tests(cases_plugin(), {"SkipCodes.all/*"});
  CHECK(run.ended.exit_code == 4);  // no test ran
  for (const Row& row : kRows) {
    INFO(row.name << ", code " << row.code);
    const TestResult& test = run.test("SkipCodes.all/code=" + std::to_string(row.code));
    CHECK(test.verdict == "skip");
    CHECK(test.message == row.message);
    const auto entry = distrun::wire::find_skip(row.name);
    REQUIRE(entry);
    CHECK(entry->exit_code == row.code);
    CHECK(entry->message == row.message);
  }
}

TEST_CASE("the table has a row for each code from 72 to 88 and for no other", "[row:skip_table/shape-of-a-row]") {
  std::set<std::string_view> names;
  for (int code = 0; code < 256; ++code) {
    const auto entry = distrun::wire::find_skip(code);
    CHECK(entry.has_value() == (code >= 72 && code <= 88));
    if (entry) names.insert(entry->name);
  }
  CHECK(names.size() == 17);
  CHECK_FALSE(distrun::wire::find_skip("multi-gpu-9"));
  const CaseRun run = run_tests(cases_plugin(), {"SkipCodes.of_no_row/*"});
  CHECK(run.test("SkipCodes.of_no_row/code=71").verdict == "crash");
  CHECK(run.test("SkipCodes.of_no_row/code=89").verdict == "crash");
}

TEST_CASE("a skip of some ranks only is a failure, and is reported at once",
          "[row:scenario/only-some-ranks-skip]"
          "[row:skip_condition/skip-vs-exit-code-two-different-moments]") {
  const Texts known{"SkipCodes.one_rank", "SkipCodes.one_rank_while_others_meet", "Thrown.by_one"};
  const CaseRun run = run_tests(cases_plugin(), known, {"--timeout", "50s"});
  for (const std::string& id : known) {
    INFO(id);
    const AttemptResult& attempt = run.attempt(id);
    CHECK(attempt.verdict == "fail");
    CHECK(attempt.culprits == std::vector<int>{1});
    CHECK_THAT(attempt.message, Contains("rank 1 skipped"));
    CHECK(attempt.duration_ms < scaled(milliseconds(10'000)).count());  // far below the bound
  }
  const AttemptResult hang = run_case("SkipCodes.rank_0_while_rank_1_hangs", {"--timeout", bound(500)})
                                 .attempt("SkipCodes.rank_0_while_rank_1_hangs");
  CHECK(hang.verdict == "timeout");
  CHECK(hang.culprits == std::vector<int>{1});
}

TEST_CASE("a skip that all ranks throw has their reason", "[row:multiprocess_child/body-throws-SkipTest]") {
  const AttemptResult attempt = run_case("Thrown.by_all").attempt("Thrown.by_all");
  CHECK(attempt.verdict == "skip");
  CHECK(attempt.message == "no such day");
  CHECK(outcomes_of(attempt) == Texts{"skipped", "skipped", "skipped", "skipped"});
  for (const RankResult& rank : attempt.ranks) CHECK(rank.exit_code == 86);
}

TEST_CASE("a condition that holds skips before any rank is started",
          "[row:skip_condition/skip-vs-exit-code-two-different-moments]"
          "[row:skip_condition/skip_if_lt_x_gpu-x]") {
  const CaseRun run = run_tests(cases_plugin(), {"Early.*"}, {"--gpu-driver", "virtual", "--gpus", "1"});
  CHECK(run.test("Early.condition").attempts.empty());
  CHECK(run.test("Early.condition").message == "asked before any rank");
  CHECK(run.test("Early.two_gpus").message == "Need at least 2 CUDA devices");
  CHECK(run.test("Early.two_gpus").attempts.empty());
  const CaseRun enough = run_tests(cases_plugin(), {"Early.two_gpus"}, {"--gpu-driver", "virtual", "--gpus", "2"});
  CHECK(enough.test("Early.two_gpus").verdict == "pass");
}

TEST_CASE("with --skips-pass a run of skips succeeds, and they stay skips",
          "[row:skip_condition/skip_but_pass_in_sandcastle-_if-semantics]") {
  const CaseRun strict = run_tests(cases_plugin(), {"Early.condition"});
  CHECK(strict.ended.exit_code == 4);
  const CaseRun lenient = run_tests(cases_plugin(), {"Early.condition", "Thrown.by_all"}, {"--skips-pass"});
  CHECK(lenient.ended.exit_code == 0);
  CHECK(lenient.test("Early.condition").verdict == "skip");
  CHECK(lenient.test("Thrown.by_all").verdict == "skip");
}

TEST_CASE("a missing library skips, and an error of the body does not",
          "[row:skip_condition/import_transformers_or_skip]") {
  const CaseRun run = run_tests(cases_plugin(), {"Libraries.*"});
  const AttemptResult& missing = run.attempt("Libraries.missing");
  CHECK(missing.verdict == "skip");
  CHECK(missing.message == "Test skipped due to missing import");
  CHECK_THAT(missing.ranks.at(0).notes.at("missing library"), Contains("libno_such_library.so.9"));
  CHECK(run.test("Libraries.missing_for_the_body_itself").verdict == "fail");
}

TEST_CASE("a test that requires a backend runs if the backend is added, and is skipped otherwise",
          "[row:skip_condition/requires_gloo][row:skip_condition/requires_nccl][row:skip_condition/requires_mpi]"
          "[row:skip_condition/requires_ucc]") {
  const CaseRun run = run_tests(cases_plugin(), {"Early.gloo", "Early.nccl", "Early.mpi", "Early.ucc"});
  for (const auto& [test, name] : {std::pair("gloo", "Gloo"), {"nccl", "NCCL"}, {"mpi", "MPI"}, {"ucc", "UCC"}}) {
    const TestResult& early = run.test("Early." + std::string(test));
    CHECK(early.verdict == "skip");
    CHECK(early.attempts.empty());
    CHECK(early.message == "c10d was not compiled with the " + std::string(name) + " backend");
  }
  const CaseRun brought = run_tests(DISTRUN_ALL_BACKENDS, {"Brought.*", "Nccl.any"});
  CHECK(brought.summary.tests.size() == 4);
  for (const TestResult& test : brought.summary.tests) CHECK(test.verdict == "pass");
}

TEST_CASE("a version of NCCL that is too old is named with the required one",
          "[row:skip_condition/requires_nccl_version-version-msg][row:skip_condition/requires_nccl]") {
  const CaseRun run = run_tests(DISTRUN_ALL_BACKENDS, {"Nccl.*"});
  CHECK(run.test("Nccl.any").verdict == "pass");
  CHECK(run.test("Nccl.old_enough").verdict == "pass");
  CHECK(run.test("Nccl.newer").verdict == "skip");
  CHECK(run.test("Nccl.newer").message ==
        "Requires NCCL version greater than or equal to: 2.10.0, found: 2.9.15, reason: no bfloat16");
}

TEST_CASE("a plugin that cannot be loaded is not a success without tests",
          "[row:skip_condition/module-level-distributed-not-available]") {
  const CaseRun run = run_tests(DISTRUN_MISSING, {"*"});
  CHECK(run.ended.exit_code == 3);
  REQUIRE(run.summary.problems.size() == 1);
  CHECK_THAT(run.summary.problems.front().text, Contains("c10d not available"));
}

TEST_CASE("no device for any rank is a skip with its reason",
          "[row:multiprocess_join/verdict-1-no-processes][row:dynamo/DynamoDistributedMultiProcTestCase]") {
  const CaseRun none = run_tests(cases_plugin(), {"Devices.one_rank_each"}, {"--gpu-driver", "none"});
  CHECK(none.test("Devices.one_rank_each").verdict == "skip");
  CHECK_THAT(none.test("Devices.one_rank_each").message, Contains("needs a device for each rank; this run has none: "));
  const CaseRun three =
      run_tests(cases_plugin(), {"Devices.one_rank_each"}, {"--gpu-driver", "virtual", "--gpus", "3"});
  CHECK(three.test("Devices.one_rank_each").verdict == "pass");
  CHECK(three.attempt("Devices.one_rank_each").ranks.size() == 3);
}
