#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "vm/machine.h"

namespace tenon::vm {

/// The version of the encoding. Raised when its meaning changes.
inline constexpr std::uint32_t snapshot_format = 1;

struct SnapshotError {
  std::string message;
};

/// The entire state of a run as bytes (docs/internals/vm.md), at any instruction. Shared values are written once, so
/// the size is linear in the content of the run. Equal runs have equal bytes.
[[nodiscard]] std::string encode(const Machine& machine);

/// Decodes a run, which continues as the original would have. `program` must be its program. Any bytes result in a
/// machine that can run, or in an error; memory use is proportional to the number of bytes.
[[nodiscard]] Result<Machine, SnapshotError> decode(std::shared_ptr<const LoadedProgram> program,
                                                    std::string_view bytes);

}  // namespace tenon::vm
