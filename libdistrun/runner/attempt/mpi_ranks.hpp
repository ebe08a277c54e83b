#pragma once
// Acts on events of the ranks' MPI (runner/mpi/server.hpp): a call of MPI_Abort is the rank's failure, and a lost
// server ends the attempt. Lives on: the coordinator's loop.
#include <distrun/runner/attempt/course.hpp>
#include <distrun/runner/mpi/server.hpp>

namespace distrun::runner {

class MpiRanks final : private mpi::ServerEvents {
 public:
  // Both must outlive this. Does nothing if the ranks have no world of MPI.
  MpiRanks(Ranks& ranks, Course& course);
  ~MpiRanks();
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

 private:
  void on_abort(int rank, int code, const std::string& child) override;
  void on_spawned(int rank, const std::string& program, const std::vector<int>& pids,
                  const std::string& error) override;
  void on_child_died(int rank, const std::string& program, proc::ExitStatus status) override;
  void on_refusal(int rank, const std::string& call) override;
  void on_server_lost(const std::string& why) override;

  void fail(int rank, int code, const std::string& why);

  Ranks& ranks_;
  Course& course_;
};

}  // namespace distrun::runner
