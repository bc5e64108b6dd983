#include "effects/pieces.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace tenon::effects {
namespace {

/// What a store has of some texts.
struct Pieces {
  std::map<Hash, std::string> contents;
  std::unordered_set<Hash> hashes;
  std::size_t bytes_added = 0;

  Hash add(const std::string& text) {
    PiecedText pieces = split_into_pieces(text, hashes);
    bytes_added = 0;
    for (const Piece& piece : pieces.added) {
      EXPECT_EQ(piece.hash, sha256(piece.bytes));
      EXPECT_LE(piece.bytes.size(), piece_bytes_max);
      for (const Hash& hash : piece.refers) EXPECT_TRUE(contents.contains(hash)) << "a list before its pieces";
      bytes_added += piece.bytes.size() + Hash::size * (1 + piece.refers.size());
      contents.emplace(piece.hash, piece.bytes);
    }
    hashes.merge(pieces.hashes);
    return pieces.root;
  }
  [[nodiscard]] std::optional<std::string> get(const Hash& root, std::size_t bytes_max = 10'000'000) const {
    const auto content = [this](const Hash& hash) -> std::optional<std::string> {
      const auto found = contents.find(hash);
      return found == contents.end() ? std::nullopt : std::optional(found->second);
    };
    return join_pieces(root, content, bytes_max);
  }
};

std::string random_text(std::size_t size, std::mt19937& random) {
  std::string text;
  while (text.size() < size) text += static_cast<char>('a' + random() % 26);
  return text;
}

TEST(Pieces, AreJoinedToTheText) {
  std::mt19937 random(1);
  Pieces pieces;
  for (const std::size_t size : {0UL, 1UL, 511UL, 512UL, 4'096UL, 100'000UL, 1'500'000UL}) {
    const std::string text = random_text(size, random);
    EXPECT_EQ(pieces.get(pieces.add(text)), text) << size;
    const std::string repeated(size, 'x');
    EXPECT_EQ(pieces.get(pieces.add(repeated)), repeated) << size;
  }
}

TEST(Pieces, AChangeAddsFew) {
  std::mt19937 random(2);
  Pieces pieces;
  std::string text = random_text(1'000'000, random);
  pieces.add(text);
  for (int round = 0; round < 50; ++round) {
    const std::size_t at = random() % text.size();
    switch (round % 3) {
      case 0:
        text.insert(at, "some more words");
        break;
      case 1:
        text.erase(at, 20);
        break;
      default:
        text[at] = '#';
    }
    EXPECT_EQ(pieces.get(pieces.add(text)), text);
    EXPECT_LT(pieces.bytes_added, 40'000U) << "round " << round;
  }
  pieces.add(text);
  EXPECT_EQ(pieces.bytes_added, 0U);
}

/// They are stored on disks: another rule would keep every text once more.
TEST(Pieces, EndWhereTheyAlwaysHave) {
  std::mt19937 random(3);
  const std::string text = random_text(200'000, random);
  EXPECT_EQ(split_into_pieces(text, {}).root.hex(), "2b814aa6339d253ce6bd4498e068b5af5037d9d127a04255bebbbb499b63495f");
}

TEST(Pieces, DamageIsNoText) {
  std::mt19937 random(4);
  Pieces pieces;
  const std::string text = random_text(50'000, random);
  const Hash root = pieces.add(text);
  EXPECT_EQ(pieces.get(root, text.size()), text);
  EXPECT_EQ(pieces.get(root, text.size() - 1), std::nullopt);
  for (const auto& [hash, bytes] : pieces.contents) {
    Pieces damaged = pieces;
    damaged.contents.erase(hash);
    EXPECT_EQ(damaged.get(root), std::nullopt);
  }
  Pieces damaged = pieces;
  for (std::string& list = damaged.contents.at(root); !list.empty(); list.pop_back()) {
    const auto joined = damaged.get(root);
    EXPECT_TRUE(!joined || text.starts_with(*joined));
  }
  damaged.contents.at(root) = "no list";
  EXPECT_EQ(damaged.get(root), std::nullopt);
  // Lists of lists of nothing, each many times.
  Hash repeated = sha256("");
  damaged.contents.emplace(repeated, "");
  for (int level = 0; level < 6; ++level) {
    std::string list;
    for (int at = 0; at < 100; ++at) (list += std::string("\x12\x20", 2)) += repeated.view();
    repeated = sha256(list);
    damaged.contents.emplace(repeated, std::move(list));
  }
  EXPECT_EQ(damaged.get(repeated), std::nullopt);
  // A list of itself, which no hash allows.
  std::string self("\x12\x20", 2);
  self += root.view();
  damaged.contents.at(root) = self;
  EXPECT_EQ(damaged.get(root), std::nullopt);
}

}  // namespace
}  // namespace tenon::effects
