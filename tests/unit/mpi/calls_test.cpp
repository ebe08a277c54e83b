#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <distrun/runner/mpi/calls.hpp>

namespace {

using namespace distrun;

// A thread with these functions, innermost first.
std::string call_in(const std::vector<std::string>& functions) {
  std::vector<wire::StackFrame> table;
  wire::ThreadStack thread;
  for (const std::string& function : functions) {
    thread.frames.push_back(static_cast<std::uint32_t>(table.size()));
    table.emplace_back().function = function;
  }
  return mpi::call_of(thread, table).name;
}

}  // namespace

TEST_CASE("the call of MPI is the outermost one, whichever name the library has for it") {
  CHECK(call_in({"poll", "ompi_coll_base_barrier", "PMPI_Barrier", "main"}) == "MPI_Barrier");
  CHECK(call_in({"PMPI_Allreduce", "MPI_Comm_split", "solve(int)", "main"}) == "MPI_Comm_split");
  CHECK(call_in({"MPI_Recv(void*, int)", "main"}) == "MPI_Recv");
}

TEST_CASE("Open MPI jumps from MPI_Finalize to a function of its own, which counts for it") {
  CHECK(call_in({"usleep", "ompi_mpi_finalize", "main"}) == "MPI_Finalize");
  CHECK(call_in({"ompi_mpi_init", "PMPI_Init_thread", "main"}) == "MPI_Init_thread");
}

TEST_CASE("a call has the line of the function that made it, as far as that is known") {
  std::vector<wire::StackFrame> table(4);
  table[0].function = "PMPI_Barrier";
  table[0].file = "barrier.c";
  table[1].function = "wrapper_of_a_library";
  table[2].function = "solve";
  table[2].file = "/src/solver.cpp";
  table[2].line = 41;
  table[3].function = "main";
  table[3].file = "/src/main.cpp";
  wire::ThreadStack thread;
  thread.frames = {0, 1, 2, 3};
  const mpi::Call call = mpi::call_of(thread, table);
  CHECK(call.file == "/src/solver.cpp");
  CHECK(call.line == 41);
  thread.frames = {0, 1};
  CHECK(mpi::call_of(thread, table).file.empty());
}

TEST_CASE("functions of the program and of MPI's inside are no calls of MPI") {
  CHECK(call_in({"MPI_", "MPI_lower", "PMPIX_Barrier", "my_MPI_Barrier", "ompi_init", "main"}).empty());
  CHECK(call_in({}).empty());
}

TEST_CASE("collectives are told from local calls and messages") {
  for (const char* const call : {"MPI_Barrier", "MPI_Allreduce", "MPI_Reduce_scatter", "MPI_Finalize", "MPI_Comm_split",
                                 "MPI_Comm_split_type", "MPI_Gatherv", "MPI_Win_fence"}) {
    INFO(call);
    CHECK(mpi::is_collective(call));
  }
  for (const char* const call : {"MPI_Recv", "MPI_Send", "MPI_Wait", "MPI_Reduce_local", "MPI_Comm_create_errhandler",
                                 "MPI_Comm_size", "MPI_Init", ""}) {
    INFO(call);
    CHECK_FALSE(mpi::is_collective(call));
  }
}
