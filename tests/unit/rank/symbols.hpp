#pragma once
// Names and lines of addresses in this process's code, from its debug information (libdw).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/board/dump_area.hpp>

namespace distrun::testing {

struct Place {
  std::string function;  // without namespace and parameters
  std::string file;      // last component of the path
  int line = 0;
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // Returns the inlined functions at the address, innermost first, followed by the function that contains it.
  const std::vector<Place>& find(std::uint64_t pc) const;
  // Returns the innermost frame with code from `file`; an empty place if there is no such frame.
  Place innermost_in(const wire::RawThread& thread, std::string_view file) const;
  bool has_function(const wire::RawThread& thread, std::string_view function) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace distrun::testing
