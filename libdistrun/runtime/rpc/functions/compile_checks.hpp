#pragma once
// Compile-time checks of functions that are called by RPC: a failed check prints one sentence instead of pages about
// templates. Each check returns whether it passed, for an `if constexpr` around code that would not compile.
#include <type_traits>

namespace distrun::rpc::detail {

template <class...>
struct Types {};

template <class...>
inline constexpr bool kNever = false;

// True for T&: the function could modify its argument.
template <class T>
inline constexpr bool kIsChanged = std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>;

template <class... Parameters>
consteval bool check_parameters() {
  constexpr bool kReadsOnly = !(kIsChanged<Parameters> || ...);
  static_assert(kReadsOnly,
                "RPC: the function has a parameter by reference, and would change a copy that nobody sees; take it by "
                "value or by reference to const, and return what is new");
  return kReadsOnly;
}

// Checks a call of a function that has these parameters.
template <class... Parameters, class... Passed>
consteval bool check_call(Types<Parameters...>, Types<Passed...>) {
  if constexpr (!check_parameters<Parameters...>()) {
    return false;
  } else if constexpr (sizeof...(Parameters) != sizeof...(Passed)) {
    static_assert(kNever<Parameters...>, "RPC: the function takes another number of arguments");
    return false;
  } else {
    constexpr bool kFits = (std::is_convertible_v<Passed, std::remove_cvref_t<Parameters>> && ...);
    static_assert(kFits, "RPC: the function takes arguments of other types");
    return kFits;
  }
}

template <class Returned, class... Parameters>
std::true_type takes_function(Returned (*)(Parameters...));
std::false_type takes_function(...);
template <class T>
concept IsFunction = std::is_pointer_v<std::decay_t<T>> && decltype(takes_function(std::declval<T>()))::value;

// Explains why a type is neither a function nor the name of one.
template <class T>
consteval bool check_callable() {
  using Callable = std::decay_t<T>;
  if constexpr (std::is_member_function_pointer_v<Callable>) {
    static_assert(kNever<T>,
                  "RPC: a method is called by a reference to its object: rref.rpc_sync(&Class::method, ...), or by "
                  "name: rpc_sync(to, rpc::bound(object, \"method\"), ...)");
  } else if constexpr (std::is_class_v<Callable>) {
    static_assert(kNever<T>,
                  "RPC: a lambda or a function object is not known to other workers; make it a function, register it "
                  "with DISTRUN_RPC(function), and pass that: rpc_sync(to, function, ...)");
  } else {
    static_assert(kNever<T>,
                  "RPC: pass a function that is registered with DISTRUN_RPC, or the name of a function or an operator: "
                  "rpc_sync(to, \"function\", ...)");
  }
  return false;
}

// The return type of a rejected call: it converts to anything, so that the compiler reports few further errors.
template <class T>
[[noreturn]] T refused();
struct Anything {
  template <class T>
  operator T() const;
  template <class T>
  friend bool operator==(const Anything&, const T&);
};

template <class T>
Anything refuse_method() {
  static_assert(kNever<T>,
                "RPC: a reference calls methods of its object: rref.rpc_sync(&Class::method, ...), or by name: "
                "rref.rpc_sync().call(\"method\", ...)");
  return refused<Anything>();
}

}  // namespace distrun::rpc::detail
