#include "base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>

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

TEST(Descriptor, SaysWhyItCannotBeWrittenTo) {
  const Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(write_all(file, "text"));
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace tenon
