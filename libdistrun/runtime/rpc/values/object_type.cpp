#include <distrun/runtime/rpc/values/object_type.hpp>

#include <map>
#include <mutex>
#include <unordered_map>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

// The types of the process. Never destroyed: values may point to them until the process ends.
struct Types {
  std::mutex mutex;
  std::map<std::string, ObjectType, std::less<>> by_name;  // addresses stay
  std::unordered_map<std::type_index, const ObjectType*> by_type;
};
Types& types() {
  static auto* const only = new Types;
  return *only;
}

}  // namespace

const ObjectType& add_object_type(ObjectType type) {
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  if (all.by_type.count(type.type) != 0) {
    throw Error(ErrorKind::InvalidArgument, "the class " + base::demangled_type(type.type.name()) +
                                                " is registered already, as \"" + all.by_type.at(type.type)->name +
                                                "\"");
  }
  std::string name = type.name;
  const auto [place, is_new] = all.by_name.try_emplace(std::move(name), std::move(type));
  if (!is_new) {
    throw Error(ErrorKind::InvalidArgument, "a class \"" + place->first + "\" is registered already");
  }
  all.by_type.emplace(place->second.type, &place->second);
  return place->second;
}

void set_codec(const std::string& name, std::function<Value(const void*)> encode,
               std::function<std::shared_ptr<void>(const Value&)> decode) {
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_name.find(name);
  if (found == all.by_name.end()) throw Error(ErrorKind::InvalidArgument, "no class \"" + name + "\" is registered");
  found->second.encode = std::move(encode);
  found->second.decode = std::move(decode);
}

const ObjectType* find_object_type(std::string_view name) noexcept {
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_name.find(name);
  return found == all.by_name.end() ? nullptr : &found->second;
}

const ObjectType* find_object_type(std::type_index type) noexcept {
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_type.find(type);
  return found == all.by_type.end() ? nullptr : found->second;
}

}  // namespace distrun::rpc
