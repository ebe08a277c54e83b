#include "names.hpp"

#include <cstring>
#include <utility>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/shell_words.hpp>

namespace distrun::probe {
namespace {

constexpr std::size_t kNameMax = 400;

}  // namespace

std::string readable_text(std::string name) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"std::__cxx11::", "std::"},
      {"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
      {"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
      {"[abi:cxx11]", ""},
      {" >", ">"},
  };
  for (const auto& [part, by] : kShort) base::replace_all(name, part, by);
  if (name.size() > kNameMax) name.replace(kNameMax, std::string::npos, "...");
  return name;
}

std::string readable_name(const char* linkage_name) {
  const std::string name(linkage_name, std::strcspn(linkage_name, "@"));
  return readable_text(base::demangled(name));
}

bool is_runtime_library(std::string_view path) {
  static constexpr std::string_view kStems[] = {"libc.so",  "libc-",     "libpthread", "ld-linux", "ld-2",
                                                "libm.so",  "libstdc++", "libgcc_s",   "libdl.so", "libdl-",
                                                "librt.so", "librt-",    "libc++"};
  if (path.starts_with("[vdso")) return true;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view stem : kStems) {
    if (file.starts_with(stem)) return true;
  }
  return false;
}

}  // namespace distrun::probe
