#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "vm/machine.h"

namespace tenon::vm {

/// Of the encoded form. Raised when its meaning changes.
inline constexpr std::uint32_t snapshot_format = 1;

struct SnapshotError {
  std::string message;
};

/// All of a run's state as bytes (docs/internals/vm.md), at whatever instruction it stands. Values that are shared
/// stand once, so the size is linear in what the run holds. Equal runs give equal bytes.
[[nodiscard]] std::string encode(const Machine& machine);

/// The run as it stood; it goes on as the original would have. `program` must be the one that it ran. Bytes of any kind
/// are answered with a machine that may be run, or an error; memory stays in proportion to their number.
[[nodiscard]] Result<Machine, SnapshotError> decode(std::shared_ptr<const LoadedProgram> program,
                                                    std::string_view bytes);

}  // namespace tenon::vm
