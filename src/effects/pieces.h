#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/sha256.h"

/// Texts that are recorded again and again and change little, such as an agent's state, are kept in pieces, so that a
/// store grows with what changes. Where a piece ends depends on the bytes before (content-defined chunking:
/// Muthitacharoen et al., "A low-bandwidth network file system", SOSP 2001; the rolling hash is the gear hash of
/// FastCDC, USENIX ATC 2016). So a change moves only the ends near it, and all other pieces are the same contents as
/// before. The hashes of the pieces are kept in lists, and those of long lists in lists of lists, which end by content
/// too.
namespace tenon::effects {

/// A shorter text is kept as a whole.
inline constexpr std::size_t pieced_text_bytes_min = 4'096;
inline constexpr std::size_t piece_bytes_min = 256;
inline constexpr std::size_t piece_bytes_mean = 1'024;  ///< of those beyond the smallest size
inline constexpr std::size_t piece_bytes_max = 4'096;

/// A content of the store.
struct Piece {
  Hash hash;
  std::string bytes;  ///< of the text; or a list: a message of 1 the hash of a piece or 2 that of a list, repeated
  std::vector<Hash> refers;  ///< of a list
};

struct PiecedText {
  Hash root;                        ///< of a list
  std::vector<Piece> added;         ///< those that were not stored
  std::unordered_set<Hash> hashes;  ///< all, the root's too
};

/// `stored`: pieces and lists that need not be added, with all to which they refer.
[[nodiscard]] PiecedText split_into_pieces(std::string_view text, const std::unordered_set<Hash>& stored);

/// Returns a content of the store; nothing when it is missing.
using ContentOf = std::function<std::optional<std::string>(const Hash& hash)>;

/// The text; nothing when a content is missing or not a list, or when there are more bytes than `bytes_max`. Adds the
/// hashes of all contents to `hashes`, unless it is null.
[[nodiscard]] std::optional<std::string> join_pieces(const Hash& root, const ContentOf& content, std::size_t bytes_max,
                                                     std::unordered_set<Hash>* hashes = nullptr);

}  // namespace tenon::effects
