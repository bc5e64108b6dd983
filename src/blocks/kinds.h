#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::blocks {

/// What a block does. The list is modelled on Dataiku's Structured Visual Agents.
enum class Kind : std::uint8_t {
  CoreLoop,
  Request,
  ToolCall,
  Call,
  Delegate,
  Route,
  ForEach,
  Parallel,
  Reflect,
  Set,
  Compress,
  EditMessage,
  Emit,
  Report,
  Code,
};

/// An option `name: expression` of a kind of block.
struct OptionRule {
  enum class Need : bool { Optional, Required };
  std::string_view name;
  Need need;
  std::string_view meaning;  ///< a phrase for documentation and messages
};

/// What a block can contain besides its options.
enum class Part : std::uint8_t {
  When = 1,     ///< `when EXPR -> next`
  To = 2,       ///< `to next: "description"`
  On = 4,       ///< `on EXPR { … }`
  Else = 8,     ///< `else -> next`
  Called = 16,  ///< `called TOOL -> next`
  Items = 32,   ///< `item NAME: T in EXPR`, and nested blocks
  Branches = 64,
};

/// The single table of kinds: the checks, lowering and the page docs/language/22-blocks.md follow it.
struct KindRule {
  Kind kind;
  std::string_view name;
  std::string_view meaning;
  std::span<const OptionRule> options;
  std::uint8_t parts = 0;       ///< a union of Part
  bool has_statements = false;  ///< its body consists of statements instead of options
  bool is_restartable = false;  ///< unless the block says otherwise, the next turn can continue here

  [[nodiscard]] bool allows(Part part) const { return (parts & static_cast<std::uint8_t>(part)) != 0; }
  [[nodiscard]] const OptionRule* find_option(std::string_view option) const;
};

/// The values of the option `format`.
inline constexpr std::array<std::string_view, 3> report_formats{"markdown", "html", "pdf"};

/// The kinds in the order of the enum.
[[nodiscard]] std::span<const KindRule> kind_rules();
/// Null if no kind has that name.
[[nodiscard]] const KindRule* find_kind(std::string_view name);
/// The names of all kinds, for suggestions.
[[nodiscard]] std::vector<std::string_view> kind_names();

}  // namespace tenon::blocks
