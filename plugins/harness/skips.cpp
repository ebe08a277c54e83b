// Reasons to skip a test: entries of the skip table and the conditions that return them. The runner's tests check the
// consequences; this suite checks what test authors call.
#include <distrun/test.hpp>

#include <string>

namespace {

using namespace distrun;

ListContext run_with(int world_size, int gpus, const std::string& backend = "shm") {
  ListContext run;
  run.world_size = world_size;
  run.gpus = gpus;
  run.backend = backend;
  return run;
}

// Returns "74 CUDA is not available.", or "runs".
std::string outcome(const SkipCondition& condition, const ListContext& run) {
  const std::optional<Skip> skip = condition(run);
  return skip ? std::to_string(skip->code) + " " + skip->reason : "runs";
}

}  // namespace

DISTRUN_TEST(Skips, entries_are_looked_up_by_name) {
  rank.note("rows", "[row:skip_table/shape-of-a-row]");
  DISTRUN_EXPECT(skip_entry("multi-gpu-8").code == 85);
  DISTRUN_EXPECT_THROWS(Error, "multi-gpu-9", (void)skip_entry("multi-gpu-9"));
  DISTRUN_EXPECT_THROWS(Error, "multi-gpu-0", (void)skip_entry("multi-gpu-0"));
}

DISTRUN_TEST(Skips, too_few_devices_for_the_ranks) {
  rank.note("rows", "[row:skip_condition/skip_if_no_gpu]");
  DISTRUN_EXPECT(outcome(skip_if_no_gpu(), run_with(2, 0)) == "74 CUDA is not available.");
  DISTRUN_EXPECT(outcome(skip_if_no_gpu(), run_with(4, 2)) == "81 Need at least 4 CUDA devices");
  DISTRUN_EXPECT(outcome(skip_if_no_gpu(), run_with(4, 4)) == "runs");
  DISTRUN_EXPECT_THROWS(Error, "multi-gpu-9", (void)skip_if_no_gpu()(run_with(9, 4)));
  DISTRUN_EXPECT(outcome(skip_if_too_few_gpus(), run_with(4, 0, "nccl")) == "74 CUDA is not available.");
  DISTRUN_EXPECT(outcome(skip_if_too_few_gpus(), run_with(4, 0, "gloo")) == "runs");
  DISTRUN_EXPECT(outcome(skip_if_too_few_gpus(), run_with(3, 2, "gloo")) == "80 Need at least 3 CUDA devices");
  DISTRUN_EXPECT(outcome(skip_if_too_few_gpus(), run_with(3, 3, "nccl")) == "runs");
}

DISTRUN_TEST(Skips, too_few_devices_for_the_test) {
  rank.note("rows",
            "[row:skip_condition/skip_if_lt_x_gpu-x] "
            "[row:skip_condition/require_n_gpus_for_nccl_backend-n-backend] "
            "[row:skip_condition/nccl_skip_if_lt_x_gpu-backend-x]");
  DISTRUN_EXPECT(outcome(skip_if_lt_x_gpu(1), run_with(4, 0)) == "75 Need at least 1 CUDA device");
  DISTRUN_EXPECT(outcome(skip_if_lt_x_gpu(2), run_with(4, 1)) == "77 Need at least 2 CUDA devices");
  DISTRUN_EXPECT(outcome(skip_if_lt_x_gpu(2), run_with(4, 2)) == "runs");
  DISTRUN_EXPECT(outcome(require_n_gpus_for_nccl_backend(2, "nccl"), run_with(4, 1)) ==
                 "77 Need at least 2 CUDA devices");
  DISTRUN_EXPECT(outcome(require_n_gpus_for_nccl_backend(2, "gloo"), run_with(4, 0, "nccl")) == "runs");
  DISTRUN_EXPECT(outcome(nccl_skip_if_lt_x_gpu("nccl", 3), run_with(4, 0)) == "80 Need at least 3 CUDA devices");
  DISTRUN_EXPECT(outcome(nccl_skip_if_lt_x_gpu("gloo", 3), run_with(4, 0)) == "runs");
}

DISTRUN_TEST(Skips, world_sizes_that_do_not_suit) {
  rank.note("rows",
            "[row:skip_condition/skip_if_small_worldsize] [row:skip_condition/skip_if_odd_worldsize] "
            "[row:skip_condition/require_world_size-n]");
  DISTRUN_EXPECT(outcome(skip_if_small_worldsize(), run_with(2, 0)) == "73 Skipped due to small world size.");
  DISTRUN_EXPECT(outcome(skip_if_small_worldsize(), run_with(3, 0)) == "runs");
  DISTRUN_EXPECT(outcome(skip_if_small_worldsize(), run_with(2, 0, "mpi")) == "runs");
  DISTRUN_EXPECT(outcome(skip_if_odd_worldsize(), run_with(3, 0)) == "87 Skipped due to odd world size.");
  DISTRUN_EXPECT(outcome(skip_if_odd_worldsize(), run_with(4, 0)) == "runs");
  DISTRUN_EXPECT(outcome(skip_if_odd_worldsize(), run_with(3, 0, "mpi")) == "runs");
  DISTRUN_EXPECT(outcome(require_world_size(4), run_with(3, 0)) == "86 Test requires world size of 4");
  DISTRUN_EXPECT(outcome(require_world_size(4), run_with(4, 0)) == "runs");
}

DISTRUN_TEST(Skips, backends_that_nobody_brings) {
  rank.note("rows",
            "[row:skip_condition/requires_gloo] [row:skip_condition/requires_nccl] "
            "[row:skip_condition/requires_ucc] [row:skip_condition/requires_mpi]");
  const ListContext run = run_with(4, 0);
  DISTRUN_EXPECT(outcome(requires_gloo(), run) == "86 c10d was not compiled with the Gloo backend");
  DISTRUN_EXPECT(outcome(requires_nccl(), run) == "86 c10d was not compiled with the NCCL backend");
  DISTRUN_EXPECT(outcome(requires_ucc(), run) == "86 c10d was not compiled with the UCC backend");
  DISTRUN_EXPECT(outcome(requires_mpi(), run) == "86 c10d was not compiled with the MPI backend");
}

DISTRUN_TEST(Skips, systems_that_this_is_not) {
  rank.note("rows", "[row:skip_condition/skip_if_rocm] [row:skip_condition/skip_if_win32]");
  DISTRUN_EXPECT(outcome(skip_if_rocm(), run_with(4, 0)) == "runs");
  DISTRUN_EXPECT(skip_entry("skipIfRocm").code == 78);
  DISTRUN_EXPECT(outcome(skip_if_win32(), run_with(4, 0)) == "runs");
}

DISTRUN_TEST(Skips, libraries_that_are_missing) {
  rank.note("rows", "[row:skip_condition/skipIfNoTorchVision]");
  DISTRUN_EXPECT(outcome(skip_if_no_library("libno_such_library.so.9", "no vision"), run_with(4, 0)) == "86 no vision");
  DISTRUN_EXPECT(outcome(skip_if_no_library("libc.so.6", "no C"), run_with(4, 0)) == "runs");
  require_library("libc.so.6");
}
