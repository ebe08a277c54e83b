// init_rpc_dynamic() of compat.hpp: checks at run time the types that the compiler checks for init_rpc().
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/compat.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::rpc {
namespace {

// Registers the types, so that to_value() accepts them.
[[maybe_unused]] const bool are_types = [] {
  const auto add = [](const char* name, std::type_index type) {
    ObjectType added;
    added.name = name;
    added.type = type;
    add_object_type(std::move(added));
  };
  add("BackendType", typeid(Backend));
  add("RpcBackendOptions", typeid(RpcBackendOptions));
  add("TensorPipeRpcBackendOptions", typeid(PipeOptions));
  add("FaultyTensorPipeRpcBackendOptions", typeid(FaultyOptions));
  return true;
}();

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, "TypeError", text); }

std::optional<Backend> backend_from(const Value& value) {
  if (value.is_none()) return {};
  if (const void* const backend = detail::instance_of(value, typeid(Backend))) {
    return *static_cast<const Backend*>(backend);
  }
  refuse("Argument backend must be a member of BackendType, not " + describe(value));
}

std::optional<int> number_from(const char* name, const Value& value) {
  if (value.is_none()) return {};
  const auto* const number = value.get_if<std::int64_t>();
  if (number == nullptr) refuse(std::string("Argument ") + name + " must be an int, not " + describe(value));
  if (!std::in_range<int>(*number)) refuse(std::string("Argument ") + name + " is too large");
  return static_cast<int>(*number);
}

std::shared_ptr<const RpcBackendOptions> options_from(const Value& value) {
  if (value.is_none()) return nullptr;
  if (auto options = detail::shared_instance_of(value, typeid(PipeOptions))) {
    return std::static_pointer_cast<const PipeOptions>(std::move(options));
  }
  if (auto options = detail::shared_instance_of(value, typeid(FaultyOptions))) {
    return std::static_pointer_cast<const FaultyOptions>(std::move(options));
  }
  if (auto options = detail::shared_instance_of(value, typeid(RpcBackendOptions))) {
    return std::static_pointer_cast<const RpcBackendOptions>(std::move(options));
  }
  refuse("Argument rpc_backend_options must be an instance of RpcBackendOptions, not " + describe(value));
}

}  // namespace

void init_rpc_dynamic(const std::string& name, const Value& backend, const Value& rank, const Value& world_size,
                      const Value& options) {
  InitOptions init;
  init.name = name;
  init.backend = backend_from(backend);
  init.options = options_from(options);
  init.rank = number_from("rank", rank);
  init.world_size = number_from("world_size", world_size);
  init_rpc(init);
}

}  // namespace distrun::rpc
