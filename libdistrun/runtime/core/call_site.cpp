#include <distrun/runtime/core/call_site.hpp>

namespace distrun::core {
namespace {

thread_local base::Location current{};  // line 0: none

}  // namespace

CallSite::CallSite(base::Location site) noexcept : outermost_(current.line == 0) {
  if (outermost_) current = site;
}

CallSite::~CallSite() {
  if (outermost_) current = {};
}

base::Location call_site(base::Location otherwise) noexcept { return current.line == 0 ? otherwise : current; }

}  // namespace distrun::core
