#pragma once
// Passes the output of ranks to the sink that shows it while they run. If the reader is too slow, the ranks block,
// as they would without us in between: nothing is lost, and memory is bounded. Lives on: the coordinator's loop.
#include <string_view>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::runner {

using launch::OutputSink;
using launch::Stream;

class OutputGate {
 public:
  // All arguments must outlive this.
  OutputGate(io::Loop& loop, OutputSink& sink, launch::World& world);
  ~OutputGate();
  OutputGate(const OutputGate&) = delete;
  OutputGate& operator=(const OutputGate&) = delete;

  void on_output(int rank, Stream stream, std::string_view bytes);

 private:
  void look();

  OutputSink& sink_;
  launch::World& world_;
  bool held_ = false;
  io::Alarm alarm_;
};

}  // namespace distrun::runner
