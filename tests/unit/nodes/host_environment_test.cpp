#include <catch2/catch.hpp>

#include <distrun/runner/nodes/host_environment.hpp>

namespace distrun::nodes {

TEST_CASE("the environment of a command travels to other hosts, without what describes its own host") {
  const proc::Variables of_command{
      "PATH=/opt/bin:/bin",     "OMP_NUM_THREADS=2",    "EMPTY=",           "A=b=c",
      "HOSTNAME=head",          "TMPDIR=/scratch/head", "DISPLAY=:0",       "SSH_AUTH_SOCK=/tmp/agent",
      "SSH_CONNECTION=1 2 3 4", "XDG_RUNTIME_DIR=/run", "DISTRUN_HOSTS=a=0"};
  CHECK(travelling(of_command) == proc::Variables{"PATH=/opt/bin:/bin", "OMP_NUM_THREADS=2", "EMPTY=", "A=b=c"});
}

TEST_CASE("of a launcher's variables, those that name the job travel, and those of one of its processes do not") {
  const proc::Variables of_command{"SLURM_JOB_ID=7", "SLURM_ARRAY_TASK_ID=3", "SLURM_JOB_NAME=train",
                                   "SLURM_PROCID=0", "SLURM_NTASKS=8",        "SLURM_NODEID=0",
                                   "PMI_RANK=0",     "PMIX_RANK=0",           "SLURM_STEP_ID=batch"};
  CHECK(travelling(of_command) == proc::Variables{"SLURM_JOB_ID=7", "SLURM_ARRAY_TASK_ID=3", "SLURM_JOB_NAME=train"});
}

TEST_CASE("entries of an environment that are no variables do not travel") {
  CHECK(travelling({"no equals sign", "=C:=C:\\", "", "X=1"}) == proc::Variables{"X=1"});
}

TEST_CASE("a host has its own name, directories and choice of devices, and nothing else of its launcher") {
  const proc::Variables here{"HOSTNAME=head", "HOST=head",     "TMPDIR=/scratch/7", "CUDA_VISIBLE_DEVICES=2,3",
                             "PATH=/bin",     "SHELL=/bin/sh", "SLURM_PROCID=1"};
  CHECK(of_host(here, "node02") ==
        proc::Variables{"HOSTNAME=node02", "HOST=node02", "TMPDIR=/scratch/7", "CUDA_VISIBLE_DEVICES=2,3"});
  CHECK(of_host({}, "node02") == proc::Variables{"HOSTNAME=node02"});
}

}  // namespace distrun::nodes
