// A program that uses MPI, for mpi_test.cpp. Its argument says what it does; rank 2 is the one that misbehaves.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int kOdd = 2;
constexpr int kTag = 1;

// distrun's number of this process, which is known before MPI_Init.
int rank_of_process() {
  const char* const text = std::getenv("RANK");
  return text != nullptr ? std::atoi(text) : 0;
}

// Tells the test that this rank has come so far.
void say(const char* what) {
  std::printf("%s %d\n", what, rank_of_process());
  std::fflush(stdout);
}

[[gnu::noinline]] void sleep_for_long() {
  say("sleeps");
  ::sleep(1000);
}

// Passes a number round all ranks, to which each one adds 1, and adds up the ranks' numbers.
void compute() {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int token = 0;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++token;
  if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, kTag, MPI_COMM_WORLD);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::printf("rank %d of %d, token %d, sum %d\n", rank, size, token, sum);
}

void publish_and_look_up() {
  const char* const name = "a service";
  char port[MPI_MAX_PORT_NAME] = "the port of rank 0";
  if (rank_of_process() == 0) MPI_Publish_name(name, MPI_INFO_NULL, port);
  MPI_Barrier(MPI_COMM_WORLD);
  char found[MPI_MAX_PORT_NAME] = "";
  MPI_Lookup_name(name, MPI_INFO_NULL, found);
  std::printf("%s\n", found);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of_process() == 0) MPI_Unpublish_name(name, MPI_INFO_NULL, port);
}

void spawn_a_child() {
  MPI_Comm children = MPI_COMM_NULL;
  char program[] = "/bin/true";
  MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
}

void in_the_middle(const std::string& what, bool is_odd) {
  if (what == "compute") compute();
  if (what == "publish") publish_and_look_up();
  if (what == "spawn" && is_odd) spawn_a_child();
  if (what == "abort" && is_odd) MPI_Abort(MPI_COMM_WORLD, 7);
  if (what == "abort") MPI_Barrier(MPI_COMM_WORLD);
  if (what == "barrier" && is_odd) sleep_for_long();
  if (what == "barrier") MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  const bool is_odd = rank_of_process() == kOdd;
  if (what == "init" && is_odd) sleep_for_long();
  if (what == "die in init" && is_odd) return 3;
  MPI_Init(&count, &arguments);
  say("joined");
  in_the_middle(what, is_odd);
  if (what == "finalize" && is_odd) sleep_for_long();
  MPI_Finalize();
  return 0;
}
