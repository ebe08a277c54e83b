#pragma once
// The options of `distrun run` as typed, some shared by other commands. They become settings once they are checked.
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace distrun::cli {

// Filled by CLI11.
struct Raw {
  std::vector<std::string> plugins;
  std::string world_size = "4";
  std::string backend = "shm";
  std::string agent = "pipe";
  std::string gpu_driver = "auto";
  std::string gpus = "0";
  std::string isolation = "process";
  std::vector<std::string> filters;
  std::string shard = "1/1";
  std::string rerun_failed;
  bool shuffle = false;
  std::string timeout = "300s";
  std::string timeout_override;
  std::string timeout_scale = "1";
  std::string stacks_after;
  std::string suspect_after = "5s";
  std::string slow_after = "60s";
  std::string deadlock = "verdict";
  std::string debug;
  std::string jobs = "1";
  bool daemon = false;
  std::string hosts;
  std::string launcher;
  std::string per_host;
  std::string join_timeout = "30s";
  std::string repeat = "1";
  std::string until_fail;
  std::string retries = "0";
  std::string retry_on;
  std::string flaky = "pass";
  std::vector<std::string> overrides;
  std::string run_timeout;
  std::string stress;
  std::string stress_load = "cpu,memory,pause";
  bool fail_fast = false;
  std::string order = "declared";
  std::string seed;
  std::vector<std::string> env;
  std::vector<std::string> lock_limits;
  bool env_values = false;
  std::string output;
  std::string json;
  std::string junit;
  std::string events;
  std::string ctrf;
  std::string trace;
  std::string trace_records = "65536";
  std::string github = "off";
  bool github_skips = false;
  std::string history;
  std::string project;
  bool keep_work_dir = false;
  bool private_tmp = false;
  std::string leaks = "normal";
  bool skips_pass = false;
  std::string color = "auto";
  bool quiet = false;
  bool show_output = false;
  bool live_output = false;
  bool verbose = false;
  std::string slow = "0";
  std::string config;
  bool print_config = false;
  bool print_config_schema = false;
  std::string exit = "handlers";
  std::string rpc_transport = "best";
  std::string bind = "none";
  std::string core = "off";
  std::string wrap;
  std::vector<std::string> wrap_ranks;
  std::string faults;
};

// Puts the options that are added to `app` next under this heading.
void begin_group(CLI::App& app, const char* heading);

}  // namespace distrun::cli
