#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tenon::effects {

/// The version of the encoding.
inline constexpr std::uint32_t bundle_format = 1;

/// All that a run needs of its program, so that resuming needs no source file: kept in the store under its hash.
struct ProgramBundle {
  std::string program;  ///< bytecode::encode: code, types, externs' signatures, sources with modules
  std::vector<std::pair<std::string, std::string>> templates;  ///< the prompt templates by name
  friend bool operator==(const ProgramBundle&, const ProgramBundle&) = default;
};

struct BundleError {
  std::string message;
};

[[nodiscard]] std::string encode(const ProgramBundle& bundle);
[[nodiscard]] Result<ProgramBundle, BundleError> decode_bundle(std::string_view bytes);

}  // namespace tenon::effects
