#include <distrun/common/base/check.hpp>

#include <cstdio>
#include <cstdlib>

namespace distrun::base {

void assertion_failed(const char* expression, const std::string& operands, Location where) {
  std::fprintf(stderr, "%s:%u: broken invariant: %s (%s)\n", where.file, where.line, expression, operands.c_str());
  std::abort();
}

}  // namespace distrun::base
