#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

/// The encoding of stored data: messages of numbered fields, as in Protocol Buffers' wire format. A field is a key
/// (number and form, a varint) and its content; a nested message is a field of bytes. Numbers are never reused, an
/// absent field has its default, fields are in ascending order, and a number that the reader does not know makes the
/// bytes invalid: state must not be lost silently.
namespace tenon::wire {

enum class Form : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2 };

class Writer {
 public:
  /// Seven bits per byte, lowest first.
  void varint(std::uint64_t value) {
    Head head;
    head.varint(value);
    bytes_ += head.view();
  }
  /// Zigzag encoding: numbers with a small absolute value are short.
  void signed_varint(std::int64_t value) {
    varint((static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63));
  }
  /// Lowest byte first.
  void fixed64(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes_ += static_cast<char>(static_cast<unsigned char>(value >> shift));
  }
  /// Its length, then the bytes.
  void bytes(std::string_view value) {
    varint(value.size());
    bytes_ += value;
  }
  void raw(std::string_view value) { bytes_ += value; }

  /// A field; 0 is the default and is not written.
  void field(std::uint32_t number, std::uint64_t value) {
    if (value != 0) present_field(number, value);
  }
  /// A field whose presence is meaningful.
  void present_field(std::uint32_t number, std::uint64_t value) {
    Head head;
    head.key(number, Form::Varint);
    head.varint(value);
    bytes_ += head.view();
  }
  void fixed_field(std::uint32_t number, std::uint64_t value) {
    Head head;
    head.key(number, Form::Fixed64);
    bytes_ += head.view();
    fixed64(value);
  }
  /// An empty text is not written.
  void field(std::uint32_t number, std::string_view value) {
    if (!value.empty()) present_field(number, value);
  }
  void present_field(std::uint32_t number, std::string_view value) {
    Head head;
    head.key(number, Form::Bytes);
    head.varint(value.size());
    bytes_ += head.view();
    bytes_ += value;
  }
  void present_field(std::uint32_t number, const Writer& message) { present_field(number, message.view()); }

  [[nodiscard]] std::string_view view() const { return bytes_; }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  /// What precedes the content of a field, at most two varints, appended at once.
  class Head {
   public:
    void varint(std::uint64_t value) {
      while (value >= 0x80) {
        bytes_[size_++] = static_cast<char>(static_cast<unsigned char>(value | 0x80U));
        value >>= 7U;
      }
      bytes_[size_++] = static_cast<char>(static_cast<unsigned char>(value));
    }
    void key(std::uint32_t number, Form form) {
      varint((static_cast<std::uint64_t>(number) << 2U) | static_cast<std::uint64_t>(form));
    }
    [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }

   private:
    static constexpr std::size_t varint_bytes_max = 10;
    std::array<char, 2 * varint_bytes_max> bytes_;  // what is used of it is always written before
    std::size_t size_ = 0;
  };

  std::string bytes_;
};

/// Reads what a Writer wrote. Never reads past the end; after the first error all further reads return nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool is_good() const { return is_good_; }
  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t size_left() const { return rest_.size(); }
  /// Marks the content as invalid.
  void reject() {
    is_good_ = false;
    rest_ = {};
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    reject();
    return 0;
  }
  std::int64_t signed_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
  }
  std::uint32_t varint32() {
    const std::uint64_t value = varint();
    if (value > UINT32_MAX) reject();
    return is_good_ ? static_cast<std::uint32_t>(value) : 0;
  }
  std::uint64_t fixed64() {
    if (rest_.size() < 8) {
      reject();
      return 0;
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    rest_.remove_prefix(8);
    return value;
  }
  std::string_view bytes() {
    const std::uint64_t size = varint();
    if (size > rest_.size()) {
      reject();
      return {};
    }
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }
  std::uint8_t byte() {
    if (rest_.empty()) {
      reject();
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  /// Moves to the next field; false at the end and after an error.
  [[nodiscard]] bool next_field() {
    if (!is_good_ || rest_.empty()) return false;
    const std::uint64_t key = varint();
    const std::uint64_t form = key & 3U;
    if (!is_good_ || (key >> 2U) > UINT32_MAX || (key >> 2U) < number_ || form > 2) {
      reject();
      return false;
    }
    number_ = static_cast<std::uint32_t>(key >> 2U);
    form_ = static_cast<Form>(form);
    return true;
  }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  // The content of the field; an error if the field has another form.
  std::uint64_t value() {
    expect(Form::Varint);
    return varint();
  }
  std::uint32_t value32() {
    expect(Form::Varint);
    return varint32();
  }
  /// At most `highest`.
  std::uint64_t value_up_to(std::uint64_t highest) {
    const std::uint64_t read = value();
    if (read > highest) reject();
    return is_good_ ? read : 0;
  }
  std::uint64_t fixed_value() {
    expect(Form::Fixed64);
    return fixed64();
  }
  std::string_view bytes_value() {
    expect(Form::Bytes);
    return bytes();
  }

 private:
  void expect(Form form) {
    if (form_ != form) reject();
  }

  std::string_view rest_;
  bool is_good_ = true;
  std::uint32_t number_ = 0;
  Form form_ = Form::Varint;
};

}  // namespace tenon::wire
