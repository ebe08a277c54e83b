#pragma once
// Names as PyTorch's tests use them: what ported tests need, and other tests do not. No front door includes this. Each
// is defined beside what it changes.
#include <string>
#include <string_view>

namespace distrun::rpc {

class Serializer;
class Value;

// Is init_rpc() for arguments whose types are known only at run time. Throws TypeErrors for wrong types.
void init_rpc_dynamic(const std::string& name, const Value& backend, const Value& rank, const Value& world_size,
                      const Value& options);

// Makes calls use another serializer (values/serializer.hpp) within a scope. `serializer` must outlive the scope, and
// all calls made in it. Scopes must be nested, not concurrent.
class UseSerializer {
 public:
  // The destructor restores the former serializer.
  explicit UseSerializer(const Serializer& serializer) noexcept;
  ~UseSerializer();
  UseSerializer(const UseSerializer&) = delete;
  UseSerializer& operator=(const UseSerializer&) = delete;

 private:
  const Serializer* before_;
};

// Hides a function on the calling thread's rank, as if it were not registered (functions/registry.hpp). Returns false
// if there is none. Thread-safe.
bool hide_function(std::string_view name);
void show_function(std::string_view name);  // undoes one hide_function()

// Turns the measurement of how long a session's calls wait for threads (calls/handler_wait.hpp) on or off for the
// session of the calling thread's rank; rpc::debug_info() reports it. Initially off. Throws Error{Failed} without RPC.
void enable_gil_profiling(bool enabled);

}  // namespace distrun::rpc
