#pragma once
// Functions of ported tests that get and return references, under the names that they have there.
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <distrun/runtime/rref/rref.hpp>

#include "rpc_classes.hpp"

namespace distrun::suites {

rpc::Value add_rref_to_value(RRef<rpc::Value> rref, rpc::Value value);  // rref.to_here() + value
Tensor my_rref_function(RRef<Tensor> rref_a, RRef<Tensor> rref_b);      // the sum of what they refer to
Tensor slow_add_number(Tensor x, std::int64_t y);                       // x + y, after a second

// Calls of their own, of `dst`.
Tensor nested_remote(std::string dst);                                       // add(ones(2, 2), 3)
std::tuple<RRef<Tensor>, RRef<Tensor>> nested_rref(std::string dst);         // 2s and 3s
RRef<Tensor> rpc_return_rref(std::string dst);                               // 2s
Tensor nested_remote_sparse(std::string dst);                                // S + S
std::tuple<RRef<Tensor>, RRef<Tensor>> nested_rref_sparse(std::string dst);  // twice that
// Goes around the ring of workers until `ttl` is 0: a list of one reference to what comes next, and at the end what
// `rref` refers to.
rpc::Value rref_forward_chain(std::int64_t dst, std::int64_t world_size, RRef<Tensor> rref, std::int64_t ttl);

std::vector<RRef<MyClass>> get_rref_list(std::vector<std::int64_t> values);
// By its owner: `method` of the object itself, "MyClass.get_value".
rpc::Value call_method_on_rref(rpc::FunctionName method, RRef<MyClass> rref, std::optional<std::int64_t> argument);

}  // namespace distrun::suites
