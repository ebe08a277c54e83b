#pragma once
// Acts on events of the ranks' MPI (runner/mpi/server.hpp): a call of MPI_Abort is the rank's failure, and a lost
// server ends the attempt. Lives on: the coordinator's loop.
#include <distrun/runner/attempt/course.hpp>
#include <distrun/runner/mpi/server.hpp>

namespace distrun::runner {

class MpiRanks final : private mpi::ServerEvents {
 public:
  // Both must outlive this. Does nothing if the run has no world of MPI.
  MpiRanks(Ranks& ranks, Course& course);
  ~MpiRanks();
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

 private:
  void on_abort(int rank, int code) override;
  void on_server_lost(const std::string& why) override;

  Ranks& ranks_;
  Course& course_;
};

}  // namespace distrun::runner
