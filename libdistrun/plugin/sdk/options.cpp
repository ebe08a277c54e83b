#include <distrun/plugin/sdk/options.hpp>

#include <utility>

#include <distrun/plugin/sdk/plugin.h>

namespace distrun {

WorldSize any_world() { return {}; }
WorldSize fixed(int n) { return {WorldSize::Rule::Fixed, {n}}; }
WorldSize any_of(std::vector<int> sizes) { return {WorldSize::Rule::AnyOf, std::move(sizes)}; }
WorldSize gpus() { return {WorldSize::Rule::Gpus, {}}; }

Death dies(int rank) { return {rank, DISTRUN_DEATH_ANY, 0}; }
Death dies_by_signal(int rank, int signal) { return {rank, DISTRUN_DEATH_SIGNAL, signal}; }
Death exits_with(int rank, int code) { return {rank, DISTRUN_DEATH_EXIT, code}; }

}  // namespace distrun
