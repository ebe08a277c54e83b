#include <distrun/runner/record/doctor/graph.hpp>

namespace distrun::runner::doctor {

const Thread* Graph::body_of(int rank) const {
  for (const std::size_t body : bodies) {
    if (threads[body].rank == rank) return &threads[body];
  }
  return nullptr;
}

}  // namespace distrun::runner::doctor
