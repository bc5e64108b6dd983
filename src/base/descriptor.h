#pragma once

#include <string_view>
#include <utility>

namespace tenon {

/// A file descriptor that is closed with its owner.
class Descriptor final {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  /// Closes it. `errno` stays what it was.
  void reset();

 private:
  int number_ = -1;
};

/// Makes room for descriptors in this process, at most `reserved_descriptors`, as long as it has one thread. Later each
/// growth of its table waits until all processors have noticed (the kernel's synchronize_rcu): some 10 ms each of five
/// times on the way to 1,000 connections.
void reserve_descriptors();
constexpr unsigned reserved_descriptors = 4096;

/// Writes all of `bytes`, after interruptions as well. If it fails, `errno` says why.
[[nodiscard]] bool write_all(const Descriptor& file, std::string_view bytes);

}  // namespace tenon
