#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bytecode/context_preview.h"

namespace tenon::bytecode {

/// A text, a number or a Boolean as far as it is known before a run.
struct KnownText {
  std::string text;  ///< as in PreviewEntry, or as JSON
  bool has_unknown = false;
  friend bool operator==(const KnownText&, const KnownText&) = default;
};

/// A tool, as an item of a set: an index into Program::tools.
struct KnownTool {
  std::uint32_t tool = 0;
  friend bool operator==(const KnownTool&, const KnownTool&) = default;
};

/// A value of an enum of which the case is known.
struct KnownCase {
  std::uint32_t index = 0;
  friend bool operator==(const KnownCase&, const KnownCase&) = default;
};

struct KnownRecord;

/// What a register is known to hold: a text, the entries of a context, a tool, a set of tools, a case, or a record.
using KnownValue = std::variant<KnownText, PreviewEntries, KnownTool, PreviewTools, KnownCase, KnownRecord>;

/// A struct or tuple of which some fields are known.
struct KnownRecord {
  std::vector<std::pair<std::uint16_t, KnownValue>> fields;  ///< by index, ascending
  friend bool operator==(const KnownRecord& one, const KnownRecord& other);
};

using KnownValues = std::map<std::uint16_t, KnownValue>;

/// A call in a function, with what is known of the arguments, by parameter.
struct PreviewCall {
  std::uint32_t function = 0;
  KnownValues arguments;
  bool is_after_failure = false;  ///< it is reached only when something has failed
};

struct FunctionPreview {
  std::map<std::uint32_t, SitePreview> sites;  ///< by index into Program::sites
  std::vector<PreviewCall> calls;
  std::set<std::uint32_t> tools;                 ///< that the function makes: indices into Program::tools
  std::optional<PreviewEntries> entries_at_end;  ///< of the function's own context, if it returns
};

/// The entries of both in their order. Those of a longest common sequence are as certain as in both, the others are
/// there in some runs.
[[nodiscard]] PreviewEntries merge_entries(const PreviewEntries& one, const PreviewEntries& other);

/// Follows the function's instructions on all paths. `parameters`: what is known of its parameters when it is called.
[[nodiscard]] FunctionPreview preview_function(const Program& program, const Function& function,
                                               const KnownValues& parameters);

}  // namespace tenon::bytecode
