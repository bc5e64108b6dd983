#pragma once

#include <string>

#include "base/result.h"
#include "journal/store.h"

namespace tenon::journal::sqlite {

/// Held by the one process that owns a store: a lock on a file next to it (its name and `.lock`). The kernel releases
/// it when the process ends, however it ends. The file remains; it contains the owner's process id, for people.
class OwnerLock {
 public:
  /// `InUse` if it is held, by this process too.
  [[nodiscard]] static Result<OwnerLock, StoreError> acquire(const std::string& store_path);
  /// Whether a process holds it at this moment.
  [[nodiscard]] static bool is_held(const std::string& store_path);
  OwnerLock(OwnerLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  OwnerLock& operator=(OwnerLock&&) = delete;
  OwnerLock(const OwnerLock&) = delete;
  ~OwnerLock();

 private:
  explicit OwnerLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace tenon::journal::sqlite
