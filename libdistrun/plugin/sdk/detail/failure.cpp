#include <distrun/plugin/sdk/detail/failure.hpp>

#include <cxxabi.h>

#include <exception>
#include <typeinfo>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/plugin/sdk/message.hpp>

namespace distrun::detail {
namespace {

std::string& kept_infos() noexcept {
  thread_local std::string infos;
  return infos;
}

// Names an exception that is not a std::exception.
std::string current_type_name() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return type != nullptr ? base::demangled_type(type->name()) : "unknown type";
}

// Adds the cause stored by std::throw_with_nested; a peer's failure deep inside still names the peer.
Failure with_cause(Failure failure, const std::exception& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (...) {
    const Failure cause = current_failure();
    failure.text += "\n  caused by " + cause.type + ": " + cause.text;
    if (failure.because_of < 0) failure.because_of = cause.because_of;
  }
  return failure;
}

// The trace repeats the error's text after each worker's name. The report has the text already, so it is removed here.
std::string places_of(const Error& error) {
  std::string trace = *error.remote_trace();
  const std::string said = "\n" + error.type() + ": " + error.what();
  for (std::size_t at = trace.find(said); at != std::string::npos; at = trace.find(said, at)) {
    trace.erase(at, said.size());
  }
  return trace;
}

Failure describe(const Error& error) {
  Failure failure{.type = error.type(), .text = error.what(), .where = error.where(), .because_of = error.because_of()};
  if (error.remote_trace()) failure.text += "\n" + places_of(error);
  return failure;
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const PeerFailed& error) {
    return describe(error);
  } catch (const Error& error) {
    return with_cause(describe(error), error);
  } catch (const std::exception& error) {
    return with_cause({.type = base::demangled_type(typeid(error).name()), .text = base::what_of(error)}, error);
  } catch (...) {
    std::string type = current_type_name();
    std::string text = "an exception of type " + type;
    return {.type = std::move(type), .text = std::move(text)};
  }
}

void keep_infos() noexcept {
  try {
    kept_infos() = current_infos();
  } catch (...) {  // no memory: the failure is reported without them
    kept_infos().clear();
  }
}

Failure current_failure(const base::ThrowStack& stack) {
  Failure failure = current_failure();
  if (stack.left()) failure.text += kept_infos();
  try {
    throw;
  } catch (const PeerFailed&) {
  } catch (...) {
    failure.thrown_at = stack.pcs();
  }
  return failure;
}

}  // namespace distrun::detail
