#include "io/directory_lock.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "support.hpp"

namespace fedpp::io {
namespace {

/// A process that takes the lock, says so through a pipe and then holds it until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& folder) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    process_ = ::fork();
    if (process_ == 0) {
      const DirectoryLock lock(folder, "host far, process 7");
      if (::write(ends[1], "x", 1) != 1) _exit(1);
      for (;;) ::pause();
    }
    char said = 0;
    EXPECT_EQ(::read(ends[0], &said, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Holder() { kill(); }
  void kill() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    process_ = 0;
  }

 private:
  pid_t process_;
};

TEST(DirectoryLock, KeepsASecondProcessOutAndDiesWithItsHolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(lock_holder(folder.path()), std::nullopt);
  Holder holder(folder.path());
  EXPECT_EQ(lock_holder(folder.path()), "host far, process 7");
  try {
    const DirectoryLock second(folder.path(), "second");
    FAIL() << "two holders";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("in use by another run (host far, process 7)"), std::string::npos)
        << error.what();
  }
  holder.kill();
  EXPECT_TRUE(std::filesystem::exists(folder / "train.lock"));  // nobody could take it away
  EXPECT_EQ(lock_holder(folder.path()), std::nullopt);
  {
    const DirectoryLock next(folder.path(), "next");
    EXPECT_TRUE(next.effective());
    EXPECT_EQ(bytes_of(folder / "train.lock"), "next\n");  // the old line is gone
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(DirectoryLock, SaysWhatIsWrongWithAFolder) {
  EXPECT_THROW(DirectoryLock("/nowhere/at/all", "x"), Error);
  EXPECT_EQ(lock_holder("/nowhere/at/all"), std::nullopt);
}

TEST(DirectoryLock, TheHoldersLineSaysNothingToTheTerminal) {
  const TemporaryFolder folder;
  Holder holder(folder.path());
  put(folder / "train.lock", "host \x1B[31mfar\nprocess 7\n");
  EXPECT_EQ(lock_holder(folder.path()), "host \\x1b[31mfar");
}

TEST(DirectoryLock, TellsItsHoldersFolderFromAnotherOfTheSameName) {
  const TemporaryFolder folder, other;
  const Holder holder(folder.path());
  EXPECT_TRUE(shows_lock_of("host far, process 7", folder.path()));
  EXPECT_FALSE(shows_lock_of("host far, process 8", folder.path())) << "left behind by a run before";
  EXPECT_FALSE(shows_lock_of("host far, process 7", other.path()));
  put(other / "train.lock", "");  // a full disk takes no line
  EXPECT_TRUE(shows_lock_of("host far, process 7", other.path()));
}

TEST(DirectoryLock, OverwritesNoFileThatALinkOfItsNameLeadsTo) {
  const TemporaryFolder folder;
  const std::string victim = put(folder / "victim", "somebody's\n"), path = folder / "train.lock";
  std::filesystem::create_symlink(victim, path);
  expect_error(error_of([&] { DirectoryLock(folder.path(), "next"); }), path + ": is a symbolic link", "take it away");
  expect_error(error_of([&] { lock_holder(folder.path()); }), path + ": is a symbolic link", "take it away");
  EXPECT_EQ(bytes_of(victim), "somebody's\n");
  EXPECT_TRUE(std::filesystem::is_symlink(path));
}

}  // namespace
}  // namespace fedpp::io
