#pragma once
// Names and lines of addresses in this process's own code, by its debug information (libdw).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/board/dump_area.hpp>

namespace distrun::testing {

struct Place {
  std::string function;  // without namespace and parameters
  std::string file;      // its last part
  int line = 0;
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // The function that holds the address last, before it those that were inlined there; the innermost first.
  const std::vector<Place>& find(std::uint64_t pc) const;
  // The innermost frame whose code stands in `file`; an empty place if there is none.
  Place innermost_in(const wire::RawThread& thread, std::string_view file) const;
  bool has_function(const wire::RawThread& thread, std::string_view function) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace distrun::testing
