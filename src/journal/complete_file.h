#pragma once

#include <functional>
#include <string>

#include "journal/store.h"

namespace tenon::journal {

/// Makes a file that appears under its name when it is complete and durable. `write` writes it under another name in
/// the same folder. `Conflict` if a file of the name exists; none is ever replaced.
[[nodiscard]] Result<void, StoreError> make_complete_file(
    const std::string& path, const std::function<Result<void, StoreError>(const std::string& partial)>& write);

}  // namespace tenon::journal
