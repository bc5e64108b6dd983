#pragma once

#include <memory>

namespace tenon {

/// Keeps the object for as long as the process runs, and never calls its destructor. From any thread.
void keep_forever(void* object) noexcept;

/// Gives up an object that is in an unknown state after a BrokenCondition. The memory is not freed.
template <class T>
void abandon(std::unique_ptr<T>& object) {
  if (object != nullptr) keep_forever(object.release());
}

}  // namespace tenon
