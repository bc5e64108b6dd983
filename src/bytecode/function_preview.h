#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "bytecode/context_preview.h"

namespace tenon::bytecode {

/// A text as far as it is known before a run.
struct KnownText {
  std::string text;  ///< as in PreviewEntry
  bool has_unknown = false;
  friend bool operator==(const KnownText&, const KnownText&) = default;
};

/// A tool, as an item of a set: an index into Program::tools.
struct KnownTool {
  std::uint32_t tool = 0;
  friend bool operator==(const KnownTool&, const KnownTool&) = default;
};

/// What a register is known to hold: a text, the entries of a context, a tool, or a set of tools.
using KnownValue = std::variant<KnownText, PreviewEntries, KnownTool, PreviewTools>;
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
};

/// Follows the function's instructions on all paths. `parameters`: what is known of its parameters when it is called.
[[nodiscard]] FunctionPreview preview_function(const Program& program, const Function& function,
                                               const KnownValues& parameters);

}  // namespace tenon::bytecode
