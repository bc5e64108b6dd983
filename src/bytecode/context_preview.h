#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bytecode/program.h"

namespace tenon::bytecode {

/// An entry that a context has when a model is asked, as far as the program says it before a run.
struct PreviewEntry {
  EntryRole role = EntryRole::Data;
  std::string text;          ///< what is known only in a run is `{{ name }}` or `{{ … }}`
  bool is_certain = true;    ///< otherwise the entry is there in some runs
  bool has_unknown = false;  ///< a part of the text is known only in a run
  friend bool operator==(const PreviewEntry&, const PreviewEntry&) = default;
};

/// The entries of the function's context at each of its call sites where a model is asked, by index into
/// Program::sites. What is asked again is shown as it is asked first: an entry of an earlier pass of a loop is left
/// out. Entries that the context has when the function is called are one entry, `<the caller's entries>`.
[[nodiscard]] std::map<std::uint32_t, std::vector<PreviewEntry>> preview_contexts(const Program& program,
                                                                                  const Function& function);

}  // namespace tenon::bytecode
