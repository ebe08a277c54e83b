// Tests that use MPI: the plugin is linked with it.
#include <distrun/test.hpp>

#include <mpi.h>

#include <thread>

namespace {

// MPI of a rank, from its set-up to its tear-down.
class Mpi : public distrun::Fixture {
 public:
  void set_up(distrun::Rank&) override {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  }
  void tear_down(distrun::Rank&) override { MPI_Finalize(); }
};

constexpr int kOdd = 2;

int sum_of_ranks() {
  int rank = 0;
  int sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

}  // namespace

DISTRUN_TEST_F(Mpi, has_the_ranks_of_the_test) {
  int number = -1;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  DISTRUN_EXPECT(number == rank.rank());
  DISTRUN_EXPECT(size == rank.world_size());
  DISTRUN_EXPECT(sum_of_ranks() == size * (size - 1) / 2);
}

DISTRUN_TEST_F(Mpi, waits_in_a_barrier, .timeout = std::chrono::seconds(6)) {
  if (rank.rank() == kOdd) std::this_thread::sleep_for(std::chrono::minutes(5));
  DISTRUN_EXPECT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
}

DISTRUN_TEST_F(Mpi, aborts) {
  if (rank.rank() == kOdd) MPI_Abort(MPI_COMM_WORLD, 7);
  MPI_Barrier(MPI_COMM_WORLD);
}

DISTRUN_TEST_F(Mpi, spawns) {
  if (rank.rank() != kOdd) return;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm children = MPI_COMM_NULL;
  DISTRUN_EXPECT(MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                                MPI_ERRCODES_IGNORE) != MPI_SUCCESS);
}

DISTRUN_TEST(WithoutMpi, passes) {}

DISTRUN_TEST(InitMpi, waits_for_one, .timeout = std::chrono::seconds(6)) {
  if (rank.rank() == kOdd) std::this_thread::sleep_for(std::chrono::minutes(5));
  DISTRUN_EXPECT(MPI_Init(nullptr, nullptr) == MPI_SUCCESS);
}
