#include "effects/pieces.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/wire.h"

namespace tenon::effects {
namespace {

/// Lists end after a hash whose first byte has these bits zero: one of 16.
constexpr unsigned char list_end_mask = 0x0F;
constexpr std::size_t list_length_min = 4;
constexpr std::size_t list_length_max = 32;
/// The longest text has far fewer levels of lists.
constexpr int levels_max = 8;

/// A random number for each byte (SplitMix64; Steele et al., OOPSLA 2014). They decide where pieces end, so that other
/// numbers would keep all texts once more.
constexpr std::array<std::uint64_t, 256> make_gear() {
  std::array<std::uint64_t, 256> gear{};
  std::uint64_t state = 0;
  for (std::uint64_t& number : gear) {
    state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
    number = mixed ^ (mixed >> 31U);
  }
  return gear;
}
constexpr std::array<std::uint64_t, 256> gear = make_gear();

/// The size of the piece that `text` begins with. The upper bits of the rolling hash depend on the last 64 bytes.
std::size_t size_of_piece(std::string_view text) {
  constexpr std::uint64_t mask = ~std::uint64_t{0} << (64U - std::countr_zero(piece_bytes_mean));
  const std::size_t end = std::min(text.size(), piece_bytes_max);
  std::uint64_t rolling = 0;
  for (std::size_t at = piece_bytes_min; at < end; ++at) {
    rolling = (rolling << 1U) + gear[static_cast<unsigned char>(text[at])];
    if ((rolling & mask) == 0) return at + 1;
  }
  return end;
}

enum : std::uint32_t { list_piece = 1, list_list = 2 };

std::size_t length_of_list(const std::vector<Hash>& hashes, std::size_t begin) {
  const std::size_t end = std::min(hashes.size(), begin + list_length_max);
  for (std::size_t at = begin + list_length_min; at < end; ++at) {
    if ((hashes[at].bytes.front() & list_end_mask) == 0) return at + 1 - begin;
  }
  return end - begin;
}

class Splitter {
 public:
  explicit Splitter(const std::unordered_set<Hash>& stored) : stored_(stored) {}

  PiecedText split(std::string_view text) {
    std::vector<Hash> nodes;
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, size_of_piece(text));
      nodes.push_back(add(piece, {}));
      text.remove_prefix(piece.size());
    }
    std::uint32_t kind = list_piece;
    do {
      std::vector<Hash> lists;
      for (std::size_t begin = 0; begin < nodes.size();) {
        const std::size_t length = length_of_list(nodes, begin);
        lists.push_back(add_list({nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                                  nodes.begin() + static_cast<std::ptrdiff_t>(begin + length)},
                                 kind));
        begin += length;
      }
      nodes = std::move(lists);
      kind = list_list;
    } while (nodes.size() > 1);
    result_.root = nodes.empty() ? add_list({}, kind) : nodes.front();
    return std::move(result_);
  }

 private:
  Hash add_list(std::vector<Hash> hashes, std::uint32_t kind) {
    wire::Writer list;
    for (const Hash& hash : hashes) list.present_field(kind, hash.view());
    return add(list.take(), std::move(hashes));
  }

  Hash add(std::string_view bytes, std::vector<Hash> refers) {
    const Hash hash = sha256(bytes);
    if (result_.hashes.insert(hash).second && !stored_.contains(hash)) {
      result_.added.push_back({hash, std::string(bytes), std::move(refers)});
    }
    return hash;
  }

  const std::unordered_set<Hash>& stored_;
  PiecedText result_;
};

class Joiner {
 public:
  Joiner(const ContentOf& content, std::size_t bytes_max, std::unordered_set<Hash>* hashes)
      : content_(content),
        bytes_max_(bytes_max),
        contents_left_(levels_max + 2 * (bytes_max / piece_bytes_min + 1)),
        hashes_(hashes) {}

  bool add_list(const Hash& hash, int level) {
    const auto bytes = get(hash);
    if (!bytes || level == levels_max) return false;
    wire::Reader in(*bytes);
    while (in.next_field()) {
      const auto part = Hash::from_bytes(in.bytes_value());
      if (!part) return false;
      const bool is_added =
          in.number() == list_piece ? add_piece(*part) : in.number() == list_list && add_list(*part, level + 1);
      if (!is_added) return false;
    }
    return in.is_good();
  }

  std::string take() { return std::move(text_); }

 private:
  std::optional<std::string> get(const Hash& hash) {
    if (contents_left_-- == 0) return std::nullopt;
    if (hashes_ != nullptr) hashes_->insert(hash);
    return content_(hash);
  }

  bool add_piece(const Hash& hash) {
    const auto bytes = get(hash);
    if (!bytes || bytes->size() > bytes_max_ - text_.size()) return false;
    text_ += *bytes;
    return true;
  }

  const ContentOf& content_;
  const std::size_t bytes_max_;
  std::size_t contents_left_;  ///< more than a text of that size has: lists of a forged store may repeat empty ones
  std::unordered_set<Hash>* const hashes_;
  std::string text_;
};

}  // namespace

PiecedText split_into_pieces(std::string_view text, const std::unordered_set<Hash>& stored) {
  return Splitter(stored).split(text);
}

std::optional<std::string> join_pieces(const Hash& root, const ContentOf& content, std::size_t bytes_max,
                                       std::unordered_set<Hash>* hashes) {
  Joiner joiner(content, bytes_max, hashes);
  if (!joiner.add_list(root, 0)) return std::nullopt;
  return joiner.take();
}

}  // namespace tenon::effects
