#include "thrown.hpp"

#include <ostream>

namespace distrun::suites {

std::ostream& operator<<(std::ostream& out, const Thrown& thrown) {
  if (!thrown.kind) return out << "nothing thrown";
  return out << thrown.type << " (" << base::name_of(*thrown.kind) << "): " << thrown.text;
}

std::ostream& operator<<(std::ostream& out, const WantedError& expected) {
  out << (expected.type.empty() ? "an error" : expected.type);
  if (expected.kind) out << " (" << base::name_of(*expected.kind) << ")";
  return out << " with \"" << expected.part << "\"";
}

bool operator==(const Thrown& thrown, const WantedError& expected) {
  if (expected.type.empty() && !expected.kind) return false;
  if (!thrown.kind || (expected.kind && *expected.kind != *thrown.kind)) return false;
  if (!expected.type.empty() && expected.type != thrown.type) return false;
  return thrown.text.find(expected.part) != std::string::npos;
}

}  // namespace distrun::suites
