#pragma once

#include <cstddef>
#include <memory>

#include "vm/values/value.h"

namespace tenon::vm {

/// The registers of a fiber in one sequence; frames are windows of it. Those above the newest frame's are ().
class RegisterStack {
 public:
  [[nodiscard]] Value* data() { return values_.get(); }
  [[nodiscard]] const Value* data() const { return values_.get(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Makes room for at least `count`; moves the registers.
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    const std::size_t grown = count > 2 * capacity_ ? count : 2 * capacity_;
    auto values = std::make_unique<Value[]>(grown);
    for (std::size_t i = 0; i < capacity_; ++i) values[i].swap(values_[i]);
    values_ = std::move(values);
    capacity_ = grown;
  }

 private:
  std::unique_ptr<Value[]> values_;
  std::size_t capacity_ = 0;
};

}  // namespace tenon::vm
