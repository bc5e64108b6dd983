#include "base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>

namespace tenon {
namespace {

bool is_used(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

TEST(Descriptor, IsClosedOnceByItsLastOwner) {
  int number = -1;
  {
    Descriptor first(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(first.is_open());
    number = first.number();
    const Descriptor second(std::move(first));
    EXPECT_EQ(second.number(), number);
    EXPECT_TRUE(is_used(number));
  }
  EXPECT_FALSE(is_used(number));
}

TEST(Descriptor, ClosesTheOneThatItReplaces) {
  Descriptor kept(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const int replaced = kept.number();
  kept = Descriptor(::fcntl(replaced, F_DUPFD_CLOEXEC, replaced + 1));
  EXPECT_TRUE(kept.is_open());
  EXPECT_FALSE(is_used(replaced));
}

TEST(Descriptor, KeepsTheReasonOfAFailureWhenItCloses) {
  Descriptor file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  errno = ENOSPC;
  file.reset();
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_FALSE(file.is_open());
}

TEST(Descriptor, IsWrittenToAsAWhole) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Descriptor from(ends[0]);
  const Descriptor to(ends[1]);
  ASSERT_TRUE(write_all(to, "some text"));
  std::array<char, 16> text{};
  ASSERT_EQ(::read(from.number(), text.data(), text.size()), 9);
  EXPECT_STREQ(text.data(), "some text");
}

/// Of the process, as the kernel says.
std::uint64_t table_size() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t size = 0;
    if (word == "FDSize:" && status >> size) return size;
  }
  return 0;
}

TEST(Descriptor, AreReservedAtOnce) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const std::uint64_t before = table_size();
  reserve_descriptors();
  if (__libc_single_threaded) {
    EXPECT_GE(table_size(), std::min<rlim_t>(limit.rlim_cur, reserved_descriptors));
  } else {
    EXPECT_EQ(table_size(), before) << "that would take long";
  }
  const int next = ::dup(STDIN_FILENO);
  EXPECT_LT(next, 100) << "numbers of descriptors do not rise";
  ::close(next);
}

TEST(Descriptor, SaysWhyItCannotBeWrittenTo) {
  const Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(write_all(file, "text"));
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace tenon
