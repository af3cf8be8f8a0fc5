/* For LD_PRELOAD: a disk quota that is exceeded, without a file system that has one. Of the files under the folder FEDPP_QUOTA_FOLDER whose path
 * holds FEDPP_QUOTA_NAME, the call named by FEDPP_QUOTA_CALL says EDQUOT: "write" (pwrite as well), of which the first FEDPP_QUOTA_BYTES of a
 * process still fit, as on a disk the last of them by a write that is cut short; "fsync"; or "close", where network file systems say it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int exceeds(const char* call, int fd) {
  const char *asked = getenv("FEDPP_QUOTA_CALL"), *folder = getenv("FEDPP_QUOTA_FOLDER"), *name = getenv("FEDPP_QUOTA_NAME");
  if (!asked || !folder || !name || strcmp(asked, call) != 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const int before = errno;
  const ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = '\0';
  const size_t all = strlen(folder);
  return strncmp(path, folder, all) == 0 && path[all] == '/' && strstr(path + all, name) != NULL;
}

/* What of a write to that file fits; -1: nothing, and errno says why. */
static ssize_t fits(int fd, size_t size) {
  static atomic_llong used;
  if (!exceeds("write", fd)) return (ssize_t)size;
  const char* bytes = getenv("FEDPP_QUOTA_BYTES");
  const long long left = (bytes ? atoll(bytes) : 0) - atomic_load(&used);
  if (left <= 0 && size > 0) {
    errno = EDQUOT;
    return -1;
  }
  if ((long long)size > left) size = (size_t)left;
  atomic_fetch_add(&used, (long long)size);
  return (ssize_t)size;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* bytes, size_t size) {
  const ssize_t fitting = fits(fd, size);
  return fitting < 0 ? -1 : NEXT(write)(fd, bytes, (size_t)fitting);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  const ssize_t fitting = fits(fd, size);
  return fitting < 0 ? -1 : NEXT(pwrite)(fd, bytes, (size_t)fitting, offset);
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  const ssize_t fitting = fits(fd, size);
  return fitting < 0 ? -1 : NEXT(pwrite64)(fd, bytes, (size_t)fitting, offset);
}

int fsync(int fd) {
  if (!exceeds("fsync", fd)) return NEXT(fsync)(fd);
  errno = EDQUOT;
  return -1;
}

/* Of a file that was open for writing: to have read one exceeds nothing. The descriptor is closed all the same. */
int close(int fd) {
  const int over = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY && exceeds("close", fd), result = NEXT(close)(fd);
  if (!over || result != 0) return result;
  errno = EDQUOT;
  return -1;
}
