#pragma once
// Functions that ported tests call remotely, under their original names. State is kept per rank (rpc_state.hpp).
// fail_on_fut and async_wrong_type (rpc_callees_futures.cpp) can be called by name only, since their types are known
// only at run time.
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/values/value.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::suites {

// Take plain values (rpc_callees.cpp).
Tensor foo_add();  // ones(1) + ones(1)
std::int64_t min(std::int64_t a, std::int64_t b, std::int64_t c);
rpc::Value plus(const rpc::Value& a, const rpc::Value& b);         // of numbers and tensors; only called locally
rpc::Value my_function(rpc::Value a, rpc::Value b, rpc::Value c);  // their sum
Tensor my_tensor_function(Tensor a, Tensor b);                     // their sum
Tensor my_container_sum(std::vector<Tensor> a);                    // adds in place to the first tensor
rpc::Value identity(rpc::Value value);
void no_result();
std::int64_t light_rpc();
std::int64_t heavy_rpc(Tensor tensor);         // 198 in-place operators
std::int64_t heavy_rpc_sparse(Tensor tensor);  // the same, with a division that allocates
void noop();
// Sleep for the time that they state; used by tests of timeouts.
void my_sleep_func(double seconds);
Tensor slow_add(Tensor x, Tensor y);  // a second

struct TensorClass {
  rpc::Value tensors;
};
DISTRUN_FIELDS(TensorClass, m.tensors)
// Adds all tensors of the list and of the map in place to the list's first; returns that and the class's first three.
std::tuple<Tensor, rpc::Value, rpc::Value, rpc::Value> my_complex_tensor_function(
    std::vector<Tensor> list_input, TensorClass tensor_class_input, std::map<std::string, Tensor> dict_input);
// Returns `view` if it is not contiguous and equals `contiguous`; throws otherwise.
Tensor non_cont_test(Tensor view, Tensor contiguous);
Tensor build_sparse_tensor();  // int64 [2, 3], not coalesced

// Access the rank's state.
void set_value(std::int64_t value);
std::int64_t get_count();
void reset_count();
void increment_count();
void timed_out_rpc();  // blocks until the called rank's event is set

// Make nested calls.
Tensor nested_rpc(std::string dst);         // add(ones(2, 2), 1) on `dst`
Tensor nested_rpc_sparse(std::string dst);  // S + S on `dst`
// Forwards itself around the ring of workers until `ttl` is 0, without waiting.
std::int64_t multi_layer_nested_async_rpc(std::int64_t dst, std::int64_t world_size, std::int64_t ttl);

// Return x + y + z; `to` computes the first sum (rpc_callees_futures.cpp).
Tensor add_use_future_cb(std::string to, Tensor x, std::int64_t y, std::int64_t z);
Tensor add_use_future_set_result(std::string to, Tensor x, std::int64_t y, std::int64_t z);
Tensor add_use_future_nested_cb(std::string to, Tensor x, std::int64_t y, std::int64_t z);
Future<std::int64_t> return_future();  // a future that is never set

// Throw errors (rpc_callees_errors.cpp).
void raise_func();         // a ValueError, "Expected error"
void raise_func_escape();  // of three lines
void custom_raise_func();  // of a type that a caller cannot construct from a text

// Return futures that only the caller waits for (rpc_callees_async.cpp).
Future<Tensor> async_raise_func();
Future<Tensor> async_add(std::string to, Tensor x, std::int64_t y);
Future<std::int64_t> async_wait_for_value();  // completed by set_value()
Future<Tensor> async_add_with_future_ctor(std::string to, Tensor x, std::int64_t y, std::int64_t z);
Future<Tensor> async_add_chained(std::string to, Tensor x, std::int64_t y, std::int64_t z);
Future<Tensor> async_add_chained_multi(std::string to, Tensor x, std::int64_t num, std::int64_t step);
Future<Tensor> async_add_nested(std::string to, Tensor x, std::int64_t y, std::int64_t z);
Future<Tensor> async_add_multi_fanout(std::string to, Tensor x, std::int64_t num, std::int64_t step);

}  // namespace distrun::suites
