// distrun doctor: says why the ranks of a run, any processes or a program hang. The graph of waits and its causes are
// in libdistrun/runner/record/doctor.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/waits/blocked_on.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>
#include <distrun/runner/evidence/waits/connections_text.hpp>
#include <distrun/runner/report/files/whole_file.hpp>

#include "commands.hpp"
#include "doctor_of_program.hpp"
#include "exit_codes.hpp"
#include "process_examiner.hpp"
#include "run_socket.hpp"
#include "terminal/terminal.hpp"
#include "told_lines.hpp"

namespace distrun::cli {
namespace {

using runner::doctor::HangFinding;

bool is_standard_output(const std::string& path) { return path == "-"; }

int doctor_of_run(const DoctorOptions& options) {
  const std::string id = find_run(options.run);
  const wire::ToldExamination told = ask_examination(id, !options.json.empty());
  if (!is_standard_output(options.json)) print_snapshots(id, told.snapshots, wants_color(options.color));
  if (!options.json.empty()) report::write_whole_file(options.json, told.json);
  return exit_code_of(static_cast<HangFinding>(told.finding));
}

void add_connections(runner::Snapshot& snapshot) {
  std::vector<pid_t> pids;
  for (const evidence::Process& process : snapshot.stacks.processes) pids.push_back(process.pid);
  const evidence::Connections connections = evidence::find_connections(pids);
  for (const std::string& line : evidence::connection_lines(connections, evidence::blocked_threads(connections))) {
    snapshot.text.emplace_back().add(evidence::Tone::Plain, base::printable(line));
  }
}

int doctor_of_processes(const DoctorOptions& options) {
  io::Loop loop;
  std::optional<ExaminedTest> examined;
  ProcessExaminer examiner(loop, options.pids, [&](ExaminedTest found) {
    examined = std::move(found);
    loop.stop();
  });
  examiner.begin();
  loop.run();
  add_connections(examined->snapshot);
  return tell_examination(*examined, options);
}

}  // namespace

int exit_code_of(HangFinding finding) noexcept {
  switch (finding) {
    case HangFinding::NoHang: return kSuccess;
    case HangFinding::Hang: return kTestsFailed;
    case HangFinding::Unknown: return kNothingRan;
    case HangFinding::Unseen: return kInfraError;
  }
  return kInfraError;
}

int tell_examination(const ExaminedTest& examined, const DoctorOptions& options) {
  if (!is_standard_output(options.json)) print_lines(lines_of(examined), wants_color(options.color));
  if (!options.json.empty()) report::write_whole_file(options.json, examination_json("", {examined}));
  return exit_code_of(examined.examination.finding);
}

int doctor(const DoctorOptions& options) {
  if (!options.program.empty()) return doctor_of_program(options);
  return options.pids.empty() ? doctor_of_run(options) : doctor_of_processes(options);
}

}  // namespace distrun::cli
