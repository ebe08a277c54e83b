#pragma once
// Strings and code objects of another process. A code object never changes, but its memory may be given to another one:
// so what is known of an address is used again only as long as the object there is the same.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "foreign_memory.hpp"
#include "layout.hpp"

namespace distrun::probe::python {

// Reads a string object as UTF-8, at most its last `limit` characters. Empty for another object, or if it cannot be
// read.
std::string read_text(ForeignMemory& memory, const Layout& layout, Address object, std::size_t limit);

struct Code {
  std::string function;  // "Trainer.step"; "?": could not be read
  std::string file;
  std::string table;
  std::int32_t first_line = 0;
  Address bytecode = 0;  // from 3.11

  // `instruction`: as a frame has it. The first line of the function if the table does not have it.
  std::uint32_t line_of(const Layout& layout, std::int64_t instruction) const;
};

class CodeObjects {
 public:
  // `type` is the address of PyCode_Type; 0: not known.
  CodeObjects(const Layout& layout, Address type) : layout_(layout), type_(type) {}

  // Returns null if the object is no code, or cannot be read, or too many others were read before.
  std::shared_ptr<const Code> find(ForeignMemory& memory, Address object);

 private:
  // These fields identify a code object: they refer to objects of its own.
  struct Fields {
    Address name = 0;
    Address file = 0;
    Address table = 0;
    std::int32_t first_line = 0;
    friend bool operator==(const Fields&, const Fields&) = default;
  };
  struct Known {
    Fields fields;
    std::shared_ptr<const Code> code;
  };
  std::optional<Fields> read_fields(ForeignMemory& memory, Address object) const;

  const Layout& layout_;
  const Address type_;
  std::map<Address, Known> known_;
};

}  // namespace distrun::probe::python
