#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"

namespace tenon::completion {

/// What a suggested name is.
enum class NameKind : std::uint8_t {
  Variable,
  Field,
  Method,
  Function,
  Extern,
  Agent,
  Type,
  Case,
  Module,
  Value,
  Keyword,
  Block,
  BlockKind,
  Option,
};
/// `variable`, `block_kind`.
[[nodiscard]] std::string_view name_of(NameKind kind);

struct Suggestion {
  std::string label;  ///< the name
  NameKind kind = NameKind::Variable;
  std::string detail;  ///< its type or its parameters
  std::string documentation;
  std::string inserted;  ///< what is written for it; empty: the label
};

struct Completions {
  std::size_t from = 0;  ///< the word at the place, which a suggestion replaces; in bytes
  std::size_t to = 0;
  std::vector<Suggestion> suggestions;  ///< the nearest first
  /// Otherwise there are more suggestions, of which those that begin as the word does are the first ones.
  bool is_complete = true;
};

/// More names are of no use to a person.
inline constexpr std::size_t suggestions_max = 500;

/// The names that can be written at `offset` of a text, as if the file at `path` contained it: those in scope, fields
/// after a `.`, cases after a `::`, types, kinds of blocks, their options, the blocks to which an edge can lead. The
/// text may have errors anywhere. Empty in comments and in plain text. `offset` is at most the text's length.
[[nodiscard]] Completions complete(const std::string& path, std::string_view text, std::size_t offset,
                                   FileSystem& files);

/// What the name at a place of a text means.
struct Meaning {
  std::size_t from = 0;  ///< the name; in bytes
  std::size_t to = 0;
  std::string title;  ///< `total(order: Order) -> i32`, `topic: String`
  std::string documentation;
};
/// Nothing if there is no name at the place, or if it means nothing.
[[nodiscard]] std::optional<Meaning> find_meaning(const std::string& path, std::string_view text, std::size_t offset,
                                                  FileSystem& files);

}  // namespace tenon::completion
