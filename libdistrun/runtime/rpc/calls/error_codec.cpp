#include <distrun/runtime/rpc/calls/error_codec.hpp>

#include <cxxabi.h>

#include <map>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/wire/error_fields.hpp>
#include <distrun/runtime/rpc/calls/names.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kContextMax = 64;
constexpr std::size_t kTypeMax = 256, kTextMax = 256 * 1024, kContextTextMax = 4 * 1024;  // bytes
// of an error that was forwarded repeatedly; keeps the outermost places
constexpr std::size_t kTraceBytesMax = 64 * 1024;

// Errors of these types are rebuilt as an Error with that type.
const std::set<std::string, std::less<>>& known_types() {
  static const std::set<std::string, std::less<>> known{
      "RuntimeError",        "ValueError",       "TypeError",        "AttributeError",   "KeyError",
      "IndexError",          "TimeoutError",     "DistStoreError",   "DistBackendError", "DistError",
      "NotImplementedError", "AssertionError",   "MemoryError",      "OSError",          "PeerFailed",
      "PluginError",         "OutOfMemoryError", "ZeroDivisionError"};
  return known;
}

struct Rebuilders {
  std::mutex mutex;
  std::map<std::string, std::function<std::exception_ptr(const Error&)>, std::less<>> by_type;
};
Rebuilders& rebuilders() {
  static auto* const only = new Rebuilders;
  return *only;
}

// Returns the class of the exception being handled.
std::string class_of_current() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  return type != nullptr ? base::demangled_type(type->name()) : "an unknown class";
}

// Maps standard exceptions to Python's names; other exceptions keep the name of their class.
std::string type_of(const std::exception& thrown) {
  if (dynamic_cast<const std::out_of_range*>(&thrown) != nullptr) return "IndexError";
  if (dynamic_cast<const std::invalid_argument*>(&thrown) != nullptr) return "ValueError";
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return "MemoryError";
  std::string name = class_of_current();
  name = name.substr(0, name.find('<'));
  return name.starts_with("std::") ? "RuntimeError" : name.substr(name.rfind(':') + 1);
}

// Returns a plain Error, or an exception of a registered class.
std::exception_ptr rebuild(Error error) {
  if (known_types().count(error.type()) != 0) return std::make_exception_ptr(std::move(error));
  std::function<std::exception_ptr(const Error&)> rebuilder;
  {
    Rebuilders& all = rebuilders();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_type.find(error.type());
    if (found != all.by_type.end()) rebuilder = found->second;
  }
  std::string why;
  try {
    if (std::exception_ptr made = rebuilder ? rebuilder(error) : nullptr) return made;
    why = rebuilder ? "to make it again has failed: nothing was made" : "no class of that name is registered here";
  } catch (...) {
    why = std::string("to make it again has failed: ") + error_of(std::current_exception()).what();
  }
  Error plain(ErrorKind::Failed,
              "Original exception on remote side was " + error.type() + ": " + error.text() + " (" + why + ")",
              error.where());
  plain.with_cause(error.because_of());
  if (error.remote_trace()) plain.with_remote_trace(*error.remote_trace());
  return std::make_exception_ptr(std::move(plain));
}

std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  return text.substr(0, most) + "... (" + std::to_string(text.size()) + " bytes in all)";
}

}  // namespace

Error with_bounded_texts(const Error& error) {
  Error bounded(error.kind(), cut(error.type(), kTypeMax), cut(error.text(), kTextMax), error.where());
  bounded.with_cause(error.because_of());
  if (error.remote_trace()) bounded.with_remote_trace(cut(*error.remote_trace(), kTraceBytesMax));
  for (std::size_t i = 0; i < std::min(error.context().size(), kContextMax); ++i) {
    bounded.while_doing(cut(error.context()[i], kContextTextMax));
  }
  return bounded;
}

namespace {

Error described(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error(ErrorKind::Failed, type_of(error), base::what_of(error), {});
  } catch (...) {
    return Error(ErrorKind::Failed, "RuntimeError", "an object of " + class_of_current() + " was thrown", {});
  }
}

}  // namespace

Error error_of(const std::exception_ptr& thrown) noexcept {
  return base::if_memory([&] { return described(thrown); }, [] { return base::out_of_memory(ErrorKind::Failed); });
}

bool is_shortage(const Error& why) noexcept {
  return why.kind() == ErrorKind::Overloaded || why.type() == "MemoryError";
}

std::string describe_on(const WorkerInfo& worker, const Error& error) {
  std::string text = "On " + to_string(worker) + ":\n" + error.type() + ": " + error.what();
  if (error.where().line != 0)
    text += "\n  at " + std::string(error.where().file) + ":" + std::to_string(error.where().line);
  if (error.remote_trace()) text += "\n" + *error.remote_trace();
  return text;
}

void write_error(wire::ByteWriter& bytes, const Error& error, const WorkerInfo& on) {
  bytes.number(static_cast<std::uint8_t>(error.kind()));
  bytes.string(error.type());
  bytes.string(error.text());
  bytes.string(error.where().file);
  bytes.number(error.where().line);
  bytes.number(static_cast<std::int32_t>(error.because_of()));
  bytes.number(static_cast<std::uint32_t>(std::min(error.context().size(), kContextMax)));
  for (std::size_t i = 0; i < std::min(error.context().size(), kContextMax); ++i) bytes.string(error.context()[i]);
  std::string trace = describe_on(on, error);
  if (trace.size() > kTraceBytesMax) trace.replace(kTraceBytesMax - 4, std::string::npos, "\n...");
  bytes.string(trace);
}

std::exception_ptr read_error(wire::ByteReader& bytes) {
  const ErrorKind kind = wire::error_kind(bytes.number<std::uint8_t>());
  std::string type = bytes.string();
  std::string text = bytes.string();
  const char* const file = lasting_name(bytes.string());
  const auto line = bytes.number<std::uint32_t>();
  Error error(kind, std::move(type), std::move(text), {file, line});
  error.with_cause(bytes.number<std::int32_t>());
  const std::uint32_t count = bytes.count(sizeof(std::uint32_t));
  if (count > kContextMax) throw Error(ErrorKind::InvalidArgument, "an error has too much context");
  for (std::uint32_t i = 0; i < count; ++i) error.while_doing(bytes.string());
  error.with_remote_trace(bytes.string());
  return rebuild(std::move(error));
}

void register_error_type(std::string type, std::function<std::exception_ptr(const Error&)> rebuild) {
  Rebuilders& all = rebuilders();
  const std::lock_guard lock(all.mutex);
  all.by_type.insert_or_assign(std::move(type), std::move(rebuild));
}

}  // namespace distrun::rpc
