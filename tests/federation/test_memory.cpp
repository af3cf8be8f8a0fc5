// What a job may still take, from files as Linux has them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "federation/memory.hpp"

namespace fedpp::federation {
namespace {

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "fedpp_memory_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    root_ = folder + "/";
    write("proc/meminfo", "MemTotal:       64000 kB\nMemAvailable:   50000 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void remove(const std::string& path) const { std::filesystem::remove(root_ + path); }
  double available() const { return available_bytes(root_); }

 private:
  std::string root_;
};

TEST_F(Memory, is_the_machines_where_no_group_has_a_limit) {
  EXPECT_EQ(available(), 50000 * 1024.0);
  write("proc/self/cgroup", "0::/user.slice\n");
  write("sys/fs/cgroup/user.slice/memory.max", "max\n");
  write("sys/fs/cgroup/user.slice/memory.current", "1000000\n");
  EXPECT_EQ(available(), 50000 * 1024.0);
  remove("proc/meminfo");
  EXPECT_TRUE(std::isinf(available()));
}

TEST_F(Memory, is_the_least_that_a_job_and_the_groups_above_it_leave) {
  write("proc/self/cgroup", "0::/slurmstepd.scope/job_7/step_0\n");
  write("sys/fs/cgroup/slurmstepd.scope/job_7/step_0/memory.max", "max\n");
  write("sys/fs/cgroup/slurmstepd.scope/job_7/memory.max", "8000000\n");
  write("sys/fs/cgroup/slurmstepd.scope/job_7/memory.current", "3000000\n");
  write("sys/fs/cgroup/slurmstepd.scope/memory.max", "9000000\n");
  write("sys/fs/cgroup/slurmstepd.scope/memory.current", "3000000\n");
  EXPECT_EQ(available(), 5000000);
  write("sys/fs/cgroup/slurmstepd.scope/job_7/memory.stat", "anon 5\nactive_file 9\ninactive_file 1500000\n");
  EXPECT_EQ(available(), 6000000) << "the group above it leaves less, now that files of the job are no matter";
  write("sys/fs/cgroup/slurmstepd.scope/job_7/memory.current", "9900000\n");
  EXPECT_EQ(available(), 0);
}

TEST_F(Memory, of_a_container_is_at_the_root_of_what_it_sees) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "4000000\n");
  write("sys/fs/cgroup/memory.current", "1000000\n");
  EXPECT_EQ(available(), 3000000);
}

TEST_F(Memory, of_the_first_version_of_cgroups_is_read_too) {
  write("proc/self/cgroup", "12:cpuset:/\n9:hugetlb,memory:/slurm/uid_1/job_7\n1:name=systemd:/a\n");
  write("sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.limit_in_bytes", "4000000\n");
  write("sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.usage_in_bytes", "2500000\n");
  write("sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.stat", "inactive_file 1\ntotal_inactive_file 500000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "2500000\n");
  EXPECT_EQ(available(), 2000000);
}

TEST(ResidentMemory, grows_with_what_is_touched) {
  const double before = resident_bytes();
  const std::string touched(64 << 20, 'x');
  EXPECT_GT(resident_bytes() - before, 0.9 * static_cast<double>(touched.size()));
}

}  // namespace
}  // namespace fedpp::federation
