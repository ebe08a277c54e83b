#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::cli {

// Parses "2/3". Throws Error{InvalidArgument} that names `option`, the text and the expected form.
runner::Shard parse_shard(const std::string& option, const std::string& text);

}  // namespace distrun::cli
