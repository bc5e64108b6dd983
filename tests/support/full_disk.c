/* Is loaded into a database server with LD_PRELOAD. As long as the file exists that TENON_TEST_FULL_DISK names, no file
   in that file's folder can grow: as on a disk without room, for users who may not mount one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int has_room(int file, int64_t end) {
  const char* const marker = getenv("TENON_TEST_FULL_DISK");
  char link[64], path[4096];
  struct stat state;
  if (marker == NULL || access(marker, F_OK) != 0) return 1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0 || fstat(file, &state) != 0) return 1;
  path[length] = '\0';
  const size_t folder = (size_t)(strrchr(marker, '/') - marker) + 1;
  return strncmp(path, marker, folder) != 0 || end <= (int64_t)state.st_size;
}

typedef ssize_t (*pwrite_function)(int, const void*, size_t, off64_t);

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  static pwrite_function real;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "pwrite64");
  if (has_room(file, offset + (int64_t)size)) return real(file, bytes, size, offset);
  errno = ENOSPC;
  return -1;
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  return pwrite64(file, bytes, size, offset);
}
