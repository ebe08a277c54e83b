#pragma once
// Functions of ported tests that take and return references, under their original names.
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <distrun/runtime/rref/rref.hpp>

#include "rpc_classes.hpp"

namespace distrun::suites {

rpc::Value add_rref_to_value(RRef<rpc::Value> rref, rpc::Value value);  // rref.to_here() + value
Tensor my_rref_function(RRef<Tensor> rref_a, RRef<Tensor> rref_b);      // the sum of their values
Tensor slow_add_number(Tensor x, std::int64_t y);                       // x + y, after a second

// Make nested calls on `dst`.
Tensor nested_remote(std::string dst);                                       // add(ones(2, 2), 3)
std::tuple<RRef<Tensor>, RRef<Tensor>> nested_rref(std::string dst);         // 2s and 3s
RRef<Tensor> rpc_return_rref(std::string dst);                               // 2s
Tensor nested_remote_sparse(std::string dst);                                // S + S
std::tuple<RRef<Tensor>, RRef<Tensor>> nested_rref_sparse(std::string dst);  // twice that
// Forwards itself around the ring of workers until `ttl` is 0. Returns a list of one reference to the next result; the
// last worker returns the value of `rref`.
rpc::Value rref_forward_chain(std::int64_t dst, std::int64_t world_size, RRef<Tensor> rref, std::int64_t ttl);

std::vector<RRef<MyClass>> get_rref_list(std::vector<std::int64_t> values);
// Called on the owner: runs `method` of the object itself, "MyClass.get_value".
rpc::Value call_method_on_rref(rpc::FunctionName method, RRef<MyClass> rref, std::optional<std::int64_t> argument);

}  // namespace distrun::suites
