// Tests that skip, by exit codes, exceptions and conditions.
#include <distrun/plugin/sdk/backends.hpp>
#include <distrun/plugin/sdk/library.hpp>
#include <distrun/test.hpp>

#include <unistd.h>

#include <string>

#include "fixtures/misbehave.hpp"

DISTRUN_TEST(SkipCodes, all, .world_size = fixed(2),
             .parameters = product(axis("code",
                                        {72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88}))) {
  _exit(rank.parameters().get<int>("code"));
}

DISTRUN_TEST(SkipCodes, of_no_row, .world_size = fixed(2), .parameters = product(axis("code", {71, 89}))) {
  _exit(rank.parameters().get<int>("code"));
}

DISTRUN_TEST(SkipCodes, one_rank) {
  if (rank.rank() == 1) _exit(75);
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(SkipCodes, one_rank_while_others_meet) {
  if (rank.rank() == 1) _exit(75);
  rank.barrier("meet");
}

DISTRUN_TEST(SkipCodes, rank_0_while_rank_1_hangs, .world_size = fixed(2)) {
  if (rank.rank() == 0) _exit(75);
  fixture::hang();
}

DISTRUN_TEST(Thrown, by_all) { distrun::skip("no such day"); }
DISTRUN_TEST(Thrown, by_one) {
  if (rank.rank() == 1) distrun::skip("not for me");
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(Early, two_gpus, .skip = {skip_if_lt_x_gpu(2)}) { DISTRUN_EXPECT(true); }
DISTRUN_TEST(Early, condition, .skip = {skip_if(true, "asked before any rank")}) { DISTRUN_FAIL("it ran"); }
DISTRUN_TEST(Early, gloo, .skip = {requires_gloo()}) { DISTRUN_FAIL("it ran"); }
DISTRUN_TEST(Early, nccl, .skip = {requires_nccl()}) { DISTRUN_FAIL("it ran"); }
DISTRUN_TEST(Early, mpi, .skip = {requires_mpi()}) { DISTRUN_FAIL("it ran"); }
DISTRUN_TEST(Early, ucc, .skip = {requires_ucc()}) { DISTRUN_FAIL("it ran"); }

DISTRUN_TEST(Libraries, missing) {
  distrun::require_library("libno_such_library.so.9");
  DISTRUN_FAIL("it ran");
}
DISTRUN_TEST(Libraries, missing_for_the_body_itself) {
  throw distrun::Error(distrun::ErrorKind::Failed, "ImportError", "no module named transformers");
}
