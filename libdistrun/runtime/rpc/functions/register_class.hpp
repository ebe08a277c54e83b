#pragma once
// Registers a plugin's class, so that its objects can be created, called and sent:
//
//   static const auto my_class = distrun::rpc::RegisterClass<MyClass>("MyClass")
//       .constructor<int>({"a", "delay"})
//       .method("my_instance_method", &MyClass::my_instance_method, {"b"})
//       .static_method("my_static_method", &MyClass::my_static_method, {"f"})
//       .class_method("my_class_method", &MyClass::my_class_method, {"d", "e"})
//       .by_value([](const MyClass& object) { return object.a; }, [](int a) { return MyClass(a); });
//
// "MyClass" creates an object; "MyClass.my_instance_method" takes an object as its first argument. A class method is a
// function whose first parameter is `const ClassName&`; the call does not pass it. by_value() defines how objects are
// sent: its first function turns an object into any value that can be sent, its second turns that into an object. If
// objects hold references, the class reports them with `void visit_references(const rpc::ReferenceVisitor&) const`,
// which takes the locks it needs; `distrun ps --rrefs` then explains reference cycles through them.
#include <distrun/runtime/rpc/functions/register.hpp>

namespace distrun::rpc {

// Passed to a class method in place of an object.
struct ClassName {
  std::string name;  // of the registered class
};

// Returns the key of a pointer to a member function: its type and its bytes.
template <class Method>
std::string method_key(Method method) {
  std::string key = typeid(Method).name();
  key.append(reinterpret_cast<const char*>(&method), sizeof method);
  return key;
}

// Registers a class while the plugin is loaded; see the top of this header. Each function returns *this; `names` are
// the names of parameters, for arg(), and the others are arg0, arg1, ... All throw Error{InvalidArgument} for a name
// that is taken.
template <class Class>
class RegisterClass {
 public:
  // Registers the type; throws Error{InvalidArgument} if the name or the class is registered.
  explicit RegisterClass(std::string name) : name_(std::move(name)) {
    ObjectType type;
    type.name = name_;
    type.type = typeid(Class);
    if constexpr (future::ShowsTensors<Class>) {
      type.visit_tensors = [](const void* object, const future::TensorVisitor& visit) {
        static_cast<const Class*>(object)->visit_tensors(visit);
      };
    }
    if constexpr (requires(const Class& object, const ReferenceVisitor& visit) { object.visit_references(visit); }) {
      type.visit_references = [](const void* object, const ReferenceVisitor& visit) {
        static_cast<const Class*>(object)->visit_references(visit);
      };
    }
    add_object_type(std::move(type));
  }

  // Registers a function of the class's name that creates an object from arguments of these types.
  template <class... Passed>
  RegisterClass& constructor(std::vector<std::string> names = {}) {
    if constexpr (detail::check_parameters<Passed...>()) {
      add_function(detail::make_function<Execution::Plain, std::shared_ptr<Class>, Passed...>(
          name_, std::move(names), [](Passed... passed) { return std::make_shared<Class>(std::move(passed)...); }));
    }
    return *this;
  }

  // Registers a member function as "Class.name"; calls pass the object first.
  template <Execution execution = Execution::Plain, class Returned, class... Passed>
  RegisterClass& method(const char* name, Returned (Class::*function)(Passed...), std::vector<std::string> names = {}) {
    return add_method<execution, Returned, Passed...>(name, function, std::move(names));
  }
  template <Execution execution = Execution::Plain, class Returned, class... Passed>
  RegisterClass& method(const char* name, Returned (Class::*function)(Passed...) const,
                        std::vector<std::string> names = {}) {
    return add_method<execution, Returned, Passed...>(name, function, std::move(names));
  }

  // Registers a function as "Class.name".
  template <Execution execution = Execution::Plain, class Returned, class... Passed>
  RegisterClass& static_method(const char* name, Returned (*function)(Passed...), std::vector<std::string> names = {}) {
    if constexpr (detail::check_function<execution, Returned, Passed...>()) {
      add_function(detail::make_function<execution, Returned, Passed...>(full(name), std::move(names), function),
                   reinterpret_cast<const void*>(function));
    }
    return *this;
  }
  // Registers a function as "Class.name" that gets the ClassName first, which calls do not pass.
  template <Execution execution = Execution::Plain, class Returned, class... Passed>
  RegisterClass& class_method(const char* name, Returned (*function)(const ClassName&, Passed...),
                              std::vector<std::string> names = {}) {
    if constexpr (detail::check_function<execution, Returned, Passed...>()) {
      add_function(detail::make_function<execution, Returned, Passed...>(
          full(name), std::move(names), [function, type = ClassName{name_}](Passed... passed) -> Returned {
            return function(type, std::move(passed)...);
          }));
    }
    return *this;
  }

  // Lets objects be sent by value: `encode` returns what is sent of an object, any type that can be sent, and `decode`
  // creates an object from it. Both run on any thread. Call it once.
  template <class Encode, class Decode>
  RegisterClass& by_value(Encode encode, Decode decode) {
    using State = std::remove_cvref_t<std::invoke_result_t<Encode&, const Class&>>;
    set_codec(
        name_, [encode](const void* object) { return to_value(encode(*static_cast<const Class*>(object))); },
        [decode](const Value& state) -> std::shared_ptr<void> {
          return std::make_shared<Class>(decode(from_value<State>(state)));
        });
    return *this;
  }

 private:
  std::string full(const char* name) const { return name_ + "." + name; }

  template <Execution execution, class Returned, class... Passed, class Method>
  RegisterClass& add_method(const char* name, Method function, std::vector<std::string> names) {
    if constexpr (detail::check_function<execution, Returned, Passed...>()) {
      names.insert(names.begin(), "self");
      add_method_name(method_key(function), name);
      add_function(detail::make_function<execution, Returned, std::shared_ptr<Class>, Passed...>(
          full(name), std::move(names), [function](const std::shared_ptr<Class>& self, Passed... passed) -> Returned {
            return ((*self).*function)(std::move(passed)...);
          }));
    }
    return *this;
  }

  std::string name_;
};

}  // namespace distrun::rpc
