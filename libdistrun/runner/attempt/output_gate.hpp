#pragma once
// What programs write, on its way to whoever shows it while they run. A reader that does not keep up holds the ranks
// up, as it would without us in between; so nothing is lost, and memory is bounded. Lives on: the coordinator's loop.
#include <string_view>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::runner {

using launch::OutputSink;
using launch::Stream;

class OutputGate {
 public:
  // All of them must outlive it.
  OutputGate(io::Loop& loop, OutputSink& sink, launch::World& world);

  void on_output(int rank, Stream stream, std::string_view bytes);

 private:
  void look();

  io::Loop& loop_;
  OutputSink& sink_;
  launch::World& world_;
  bool held_ = false;
  io::Alarm alarm_;
};

}  // namespace distrun::runner
