#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/program.h"
#include "bytecode/tool_sets.h"

namespace tenon::bytecode {

/// An entry that a context has when a model is asked, as far as the program says it before a run.
struct PreviewEntry {
  EntryRole role = EntryRole::Data;
  std::string text;          ///< what is known only in a run is `{{ name }}` or `{{ … }}`
  bool is_certain = true;    ///< otherwise the entry is there in some runs
  bool has_unknown = false;  ///< a part of the text is known only in a run
  friend bool operator==(const PreviewEntry&, const PreviewEntry&) = default;
};

using PreviewEntries = std::vector<PreviewEntry>;

/// Written before the text of an entry that is there in some runs.
inline constexpr std::string_view in_some_runs = "(in some runs) ";

/// The tools that a set may contain when a model is asked.
struct PreviewTools {
  ToolIndices tools;
  bool is_certain = true;  ///< otherwise the set contains some of them
  friend bool operator==(const PreviewTools&, const PreviewTools&) = default;
};

/// What a model is asked with at a call site.
struct SitePreview {
  PreviewEntries entries;
  std::vector<std::optional<PreviewTools>> sets;  ///< by clause that offers a set; absent if nothing is known of it
  friend bool operator==(const SitePreview&, const SitePreview&) = default;
};

struct ProgramPreview {
  /// By index into Program::sites: what a model is asked with, once for each way in which the program leads there. A
  /// site that no run reaches is not in it.
  std::map<std::uint32_t, std::vector<SitePreview>> sites;
  std::set<std::uint32_t> tools;  ///< that a run may make: indices into Program::tools
};

/// The contexts of a program at its call sites where a model is asked, in runs of its functions and agents; tests are
/// not considered. What is asked again is shown as it is asked first: an entry of an earlier pass of a loop is left
/// out.
///
/// A function of the program is shown for any caller: its parameters are `{{ name }}`, and the entries that its context
/// has when it is called are one entry, `<the caller's entries>`. The turn of an agent begins with its instructions,
/// the conversation before and what the person has said, and functions of an agent are shown with the contexts with
/// which the program calls them. A function of the modules `std::…` is shown as the program calls it, once for each of
/// its calls that differ.
[[nodiscard]] ProgramPreview preview_contexts(const Program& program);

}  // namespace tenon::bytecode
