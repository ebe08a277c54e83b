#pragma once
// What programs write, on its way to whoever shows it while they run. A reader that does not keep up holds the ranks
// up, as it would without us in between; so nothing is lost, and memory is bounded. Lives on: the coordinator's loop.
#include <string_view>

#include <distrun/io/loop.hpp>
#include <distrun/launch/node.hpp>

namespace distrun::runner {

using launch::Stream;

class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // Never waits for the reader. `bytes` as the rank wrote them, cut anywhere.
  virtual void on_output(int rank, Stream stream, std::string_view bytes) = 0;
  // Hands on what it can; whether so much is left that the ranks should wait.
  virtual bool is_full() = 0;
};

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
