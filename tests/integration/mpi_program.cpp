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

// Publishes until that is refused, at the latest after `kMost` names; then unpublishes one and publishes another.
void publish_much() {
  constexpr int kMost = 100'000;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const std::string port(MPI_MAX_PORT_NAME - 1, 'p');
  int count = 0;
  const auto publish = [&](int number) {
    return MPI_Publish_name(std::to_string(number).c_str(), MPI_INFO_NULL, port.c_str()) == MPI_SUCCESS;
  };
  while (count < kMost && publish(count)) ++count;
  std::printf("%s\n", count > 10'000 && count < kMost ? "refused in time" : std::to_string(count).c_str());
  MPI_Unpublish_name("0", MPI_INFO_NULL, port.c_str());
  std::printf("%s\n", publish(kMost) ? "published again" : "refused again");
}

constexpr int kChildren = 2;

// Starts this program twice, with a word that says what the children do, and gets a number from each.
void spawn_children(const char* program, const std::string& what) {
  std::string word = "child of " + what;
  char* arguments[] = {word.data(), nullptr};
  MPI_Comm children = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int error =
      MPI_Comm_spawn(program, arguments, kChildren, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
  if (error != MPI_SUCCESS) {
    std::printf("refused\n");
    return;
  }
  for (int child = 0; child < kChildren; ++child) {
    int number = 0;
    MPI_Recv(&number, 1, MPI_INT, child, kTag, children, MPI_STATUS_IGNORE);
    std::printf("child %d sends %d\n", child, number);
  }
  MPI_Comm_disconnect(&children);
}

// Sends a number to the rank that has spawned this child, unless the child is to fail.
void be_child(const std::string& what, MPI_Comm parent) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool is_odd = rank == 1;
  if (what == "child of crash" && is_odd) std::abort();
  if (what == "child of abort" && is_odd) MPI_Abort(MPI_COMM_WORLD, 8);
  if (what == "child of hang" && is_odd) sleep_for_long();
  int number = 0;
  MPI_Allreduce(&size, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  number = 10 * number + rank;
  MPI_Send(&number, 1, MPI_INT, 0, kTag, parent);
  MPI_Comm_disconnect(&parent);
}

void in_the_middle(const char* program, const std::string& what, bool is_odd) {
  if (what == "compute") compute();
  if (what == "publish") publish_and_look_up();
  if (what == "much") publish_much();
  if (what == "spawn nothing" && is_odd) return spawn_children("/there/is/none", "");
  if (what.starts_with("spawn ") && is_odd) spawn_children(program, what.substr(6));
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
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    be_child(what, parent);
  } else {
    say("joined");
    in_the_middle(arguments[0], what, is_odd);
  }
  if (what == "finalize" && is_odd) sleep_for_long();
  MPI_Finalize();
  return 0;
}
