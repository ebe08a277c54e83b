#include "bind_option.hpp"

#include <CLI/CLI.hpp>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr char kBinds[] = "none|core|numa";

}  // namespace

void add_bind_option(CLI::App& app, Raw& raw) {
  app.add_option("--bind", raw.bind,
                 "CPUs that a rank runs on: none: any; core: cores of its own, an equal part of the usable ones; numa: "
                 "those of one NUMA node")
      ->type_name(kBinds);
}

runner::Bind bind_of(const Raw& raw) {
  const std::string bind = one_of("--bind", raw.bind, kBinds);
  return bind == "core" ? runner::Bind::Core : bind == "numa" ? runner::Bind::Numa : runner::Bind::None;
}

}  // namespace distrun::cli
