// Functions that holders of a reference call at its owner.
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rref/methods.hpp>
#include <distrun/runtime/rref/references.hpp>

namespace distrun::rref {
namespace {

constexpr std::size_t kRowsTold = 1024;

RRefId id_of(const rpc::ValueList& arguments) {
  return {rpc::from_value<WorkerId>(arguments[0]), rpc::from_value<std::int64_t>(arguments[1])};
}

rpc::Result fetch(const rpc::ValueList& arguments) {
  const auto value = current_references()->find_value(id_of(arguments));
  value->streams.follow();
  return value->future;
}

rpc::Result type_of(const rpc::ValueList& arguments) {
  return current_references()->find_value(id_of(arguments))->future.then([](const future::Future<Value>& done) {
    return rpc::to_value(type_name_of(done.wait()));
  });
}

// Waits for the value on this thread, which methods may block as well.
rpc::Result invoke(const rpc::ValueList& arguments) {
  const auto owned = current_references()->find_value(id_of(arguments));
  const Value object = owned->future.wait();
  begin_work(owned);
  rpc::Arguments passed{rpc::from_value<rpc::Tuple>(arguments[3]).items, {}};
  for (auto& [name, value] : rpc::from_value<rpc::Map>(arguments[4]).items) {
    passed.named.emplace_back(rpc::from_value<std::string>(name), std::move(value));
  }
  return call_method(object, rpc::from_value<std::string>(arguments[2]), std::move(passed));
}

rpc::Result page(const rpc::ValueList&) {
  const wire::Bytes bytes = wire::encode(current_references()->page(kRowsTold));
  return rpc::to_value(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

rpc::Function function(const char* name, std::vector<rpc::Parameter> parameters, rpc::Execution execution,
                       rpc::Result (*run)(const rpc::ValueList&)) {
  parameters.insert(parameters.begin(), {{"created_on", "int"}, {"local_id", "int"}});
  return {{name, std::move(parameters)}, execution, run};
}

bool register_all() {
  rpc::register_dynamic(function(kFetch, {}, rpc::Execution::Inline, &fetch));
  rpc::register_dynamic({{kPage, {}}, rpc::Execution::Plain, &page});
  rpc::register_dynamic(function(kTypeOf, {}, rpc::Execution::Plain, &type_of));
  return rpc::register_dynamic(function(kInvoke, {{"method", "str"}, {"positional", "tuple"}, {"named", "map"}},
                                        rpc::Execution::Plain, &invoke));
}

[[maybe_unused]] const bool is_registered = register_all();

}  // namespace
}  // namespace distrun::rref
