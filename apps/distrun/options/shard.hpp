#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::cli {

// "2/3". Throws Error{InvalidArgument} that names `option`, the text and what is wanted.
runner::Shard parse_shard(const std::string& option, const std::string& text);

}  // namespace distrun::cli
