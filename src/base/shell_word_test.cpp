#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(ShellWord, PlainTextIsNotQuoted) {
  for (const char* const text : {"runs.store", "/tmp/a/b-1.store", "postgres://ann@host:5432/runs", "größe.store"})
    EXPECT_EQ(make_shell_word(text), text);
}

TEST(ShellWord, WhatAShellWouldReadOtherwiseIsQuoted) {
  EXPECT_EQ(make_shell_word("/tmp/a b/q.store"), "'/tmp/a b/q.store'");
  EXPECT_EQ(make_shell_word("$HOME;x"), "'$HOME;x'");
  EXPECT_EQ(make_shell_word("Ann's"), "'Ann'\\''s'");
  EXPECT_EQ(make_shell_word(""), "''");
}

}  // namespace
}  // namespace tenon
