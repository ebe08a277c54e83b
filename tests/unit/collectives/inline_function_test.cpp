// Collectives of a thread that runs an inline function of RPC.
#include <catch2/catch.hpp>

#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::collectives {

TEST_CASE("an inline function must not call a collective, and the group remains usable") {
  ProcessGroup group({"alone", 0, {0}}, std::make_shared<HashStore>(), {});
  const Tensor tensor = tensor::ones({2});
  {
    const std::string name = "peek";
    const core::InlineFunctionScope scope(&name);
    CHECK_THROWS_WITH(group.all_reduce(tensor), Catch::StartsWith("the inline function \"peek\" calls a collective: "));
    CHECK_THROWS_WITH(group.barrier(), Catch::Contains("\"peek\" calls a collective: "));
    CHECK_THROWS_WITH(group.broadcast(tensor, 0, {.async = true}), Catch::Contains("\"peek\" calls a collective: "));
  }
  group.all_reduce(tensor);
  group.barrier();
}

}  // namespace distrun::collectives
