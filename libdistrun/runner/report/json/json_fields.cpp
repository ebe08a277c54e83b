#include <distrun/runner/report/json/json_fields.hpp>

#include <cmath>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::report {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::InvalidArgument, what); }

[[noreturn]] void refuse_field(const char* name, const Json& found, const char* wanted) {
  const std::string text = found.dump(-1, ' ', true, Json::error_handler_t::replace);
  refuse("\"" + std::string(name) + "\" is " + base::one_line(text, 60) + ", not " + wanted);
}

const Json* find(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

void read(const Json& object, const char* name, std::string& into) {
  const Json* found = find(object, name);
  if (found == nullptr) return;
  if (!found->is_string()) refuse_field(name, *found, "a string");
  into = found->get_ref<const std::string&>();
}

void read(const Json& object, const char* name, bool& into) {
  const Json* found = find(object, name);
  if (found == nullptr) return;
  if (!found->is_boolean()) refuse_field(name, *found, "true or false");
  into = found->get<bool>();
}

void read(const Json& object, const char* name, double& into) {
  const Json* found = find(object, name);
  if (found == nullptr) return;
  if (!found->is_number()) refuse_field(name, *found, "a number");
  into = found->get<double>();
}

void read(const Json& object, const char* name, base::Nanoseconds& into) {
  double ms = static_cast<double>(into.count()) / 1e6;
  read(object, name, ms);
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  constexpr double kMost = 9e12;  // ms; larger values overflow an int64 of nanoseconds
  if (!(std::abs(ms) < kMost)) refuse_field(name, object.at(name), "a duration in its range");
#endif
  into = base::Nanoseconds(std::llround(ms * 1e3) * 1000);
}

const Json& object_at(const Json& object, const char* name) {
  static const Json none = Json::object();
  const Json* found = find(object, name);
  if (found == nullptr) return none;
  if (!found->is_object()) refuse_field(name, *found, "an object");
  return *found;
}

void read(const Json& object, const char* name, std::vector<std::string>& into) {
  read_each(object, name, [&](const Json& item) {
    if (!item.is_string()) refuse_field(name, item, "a string");
    into.push_back(item.get<std::string>());
  });
}

}  // namespace distrun::report
