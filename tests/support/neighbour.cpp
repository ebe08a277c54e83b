#include "neighbour.hpp"

#include <signal.h>

#include <utility>

#include "sandbox.hpp"

namespace distrun::testing {

Neighbour::Neighbour(std::string program, std::vector<std::string> directories) {
  Command command;
  command.program = std::move(program);
  command.arguments = std::move(directories);
  command.capture = scratch_.path() + "/neighbour";
  running_ = std::make_unique<Running>(std::move(command));
}

Neighbour::~Neighbour() {
  if (running_) stop();
}

Ended Neighbour::stop() {
  running_->signal(SIGTERM);
  Ended ended = running_->wait(scaled(milliseconds(10'000)));
  running_.reset();
  return ended;
}

bool is_of_neighbour(std::string_view name) { return name.substr(0, 10) == "neighbour-"; }

}  // namespace distrun::testing
