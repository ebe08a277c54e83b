#pragma once
// Writes XML into a string. Text may be any bytes: what XML cannot hold is made printable first.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::report {

class XmlWriter {
 public:
  XmlWriter();

  // Attributes come right after open(); then text or elements, then close().
  void open(const char* name);
  void attribute(const char* name, std::string_view value);
  void text(std::string_view content);
  void close();

  std::string take() { return std::move(out_); }

 private:
  void end_of_tag();

  std::string out_;
  std::vector<const char*> open_;
  bool in_tag_ = false;    // attributes may follow
  bool has_text_ = false;  // the innermost element holds text: white space counts
};

}  // namespace distrun::report
