#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "vm/values/object.h"

namespace tenon::vm {

/// Counts the memory of values, each shared object once. Constants of programs do not count.
class ValueBytes {
 public:
  void add(const Value& value);
  /// Memory that is not a value's, for what holds values.
  void add_bytes(std::size_t bytes) { bytes_ += bytes; }
  [[nodiscard]] std::uint64_t total() const { return bytes_; }

 private:
  void visit(const Value& value);
  void add_object(const Value& value);

  std::uint64_t bytes_ = 0;
  std::unordered_set<const Object*> shared_;  ///< that were counted
  std::vector<const Value*> waiting_;
};

}  // namespace tenon::vm
