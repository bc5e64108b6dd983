#pragma once

#include <string>

#include "base/result.h"
#include "journal/store.h"

namespace tenon::journal::sqlite {

/// Held by the one process that owns a store: a lock on a file beside it (its name and `.lock`), which the kernel takes
/// back when the process ends, however it ends. The file stays; it holds the owner's process id, for people.
class OwnerLock {
 public:
  /// `InUse` when somebody has it, within this process too.
  [[nodiscard]] static Result<OwnerLock, StoreError> acquire(const std::string& store_path);
  OwnerLock(OwnerLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  OwnerLock& operator=(OwnerLock&&) = delete;
  OwnerLock(const OwnerLock&) = delete;
  ~OwnerLock();

 private:
  explicit OwnerLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace tenon::journal::sqlite
