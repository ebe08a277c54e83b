#pragma once
// The parts that ranks have which are programs: a start that the kernel reports, output that is shown while they run
// (that of tests, too, if it is wanted), and signals that the user sends them. Lives on: the coordinator's loop.
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <distrun/runner/attempt/output_gate.hpp>
#include <distrun/runner/attempt/ranks.hpp>

namespace distrun::runner {

class Programs {
 public:
  // `ranks` must outlive this.
  explicit Programs(Ranks& ranks) : ranks_(ranks) {}

  // Shows output from now on, if it is wanted. Call before the ranks start; the world must live until hide_output().
  void show_output(launch::World& world);
  // The ranks may be kept for another test.
  void hide_output() { gate_.reset(); }
  // The rank's process has become its program.
  void on_program(int rank);
  // Passes a user's signal on to the programs; does nothing for ranks of tests.
  void pass_on(int signal);
  void on_output(int rank, launch::Stream stream, std::string_view bytes);

 private:
  Ranks& ranks_;
  std::optional<OutputGate> gate_;
  std::map<int, std::vector<int>> early_signals_;  // by rank: signals that came before exec
};

}  // namespace distrun::runner
