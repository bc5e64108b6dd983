#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "types/table/type_table.h"
#include "vm/limits.h"
#include "vm/values/labels.h"

namespace tenon::vm {

/// The type of a value at run time. The numbers are stored in snapshots and are never reused. From String on, the value
/// refers to an object.
enum class Tag : std::uint8_t {
  Unit = 0,
  Boolean = 1,
  Integer = 2,  ///< i32 and i64 alike
  Float = 3,
  Case = 4,  ///< an enum's case without payload, including None: its type and index
  String = 8,
  List = 9,
  Map = 10,      ///< string keys, in insertion order
  Record = 11,   ///< a struct or tuple: its type and fields
  Variant = 12,  ///< an enum's case with payload, including Some, Ok and Err: type, index and payload
  Context = 13,
  Secret = 14,  ///< sealed: the machine neither decrypts nor shows it
};
inline constexpr Tag first_object_tag = Tag::String;
[[nodiscard]] std::string_view tag_name(Tag tag);

/// Why bytes are not a valid String.
struct TextError {
  enum class Kind : std::uint8_t { NotUtf8, TooLong };
  Kind kind = Kind::NotUtf8;
  std::size_t offset = 0;  ///< of the first byte that is not UTF-8
};

struct Object;
struct TextObject;
struct ListObject;
struct MapObject;
struct FieldsObject;
struct SecretObject;
struct ContextNode;
class MapEntries;

/// A value of the language: 16 bytes. Copying is cheap (objects are reference-counted, and a shared object is copied
/// when it is changed), with value semantics. The label is the value's origin; that of an aggregate is the label of its
/// shape, and its parts have their own: an extracted part has both. Counts are not atomic: a value and everything that
/// it shares belong to one thread at a time, except for a program's constants, which are never counted.
class Value {
 public:
  /// `()`
  constexpr Value() noexcept = default;
  Value(const Value& other) noexcept : head_(other.head_), payload_(other.payload_) {
    if (is_object()) retain();
  }
  Value(Value&& other) noexcept : head_(std::exchange(other.head_, 0)), payload_(std::exchange(other.payload_, 0)) {}
  Value& operator=(const Value& other) noexcept {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Value moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Value() {
    if (is_object()) release();
  }

  [[nodiscard]] static Value unit() { return {}; }
  [[nodiscard]] static Value boolean(std::same_as<bool> auto value) { return {Tag::Boolean, value ? 1U : 0U}; }
  [[nodiscard]] static Value integer(std::int64_t value) { return {Tag::Integer, static_cast<std::uint64_t>(value)}; }
  [[nodiscard]] static Value floating(double value) { return {Tag::Float, std::bit_cast<std::uint64_t>(value)}; }
  /// A case without payload, of an enum or an Option.
  [[nodiscard]] static Value plain_case(types::TypeId type, std::uint32_t index) {
    return {Tag::Case, type.index | (static_cast<std::uint64_t>(index) << 32U)};
  }
  /// Must be used for all text from outside: fails if the bytes are not UTF-8 or exceed `text_bytes_max`.
  [[nodiscard]] static Result<Value, TextError> try_string(std::string bytes);
  /// For text that is known to be UTF-8 and within the limit.
  [[nodiscard]] static Value string(std::string bytes);
  [[nodiscard]] static Value list(std::vector<Value> items);
  /// Keys are Strings; a later entry replaces an earlier one with the same key.
  [[nodiscard]] static Value map(std::vector<std::pair<Value, Value>> entries);
  /// A struct or tuple; fields in declaration order.
  [[nodiscard]] static Value record(types::TypeId type, std::vector<Value> fields);
  /// A case with payload of at least one item.
  [[nodiscard]] static Value variant(types::TypeId type, std::uint32_t index, std::vector<Value> payload);
  [[nodiscard]] static Value none() { return plain_case(types::TypeTable::any_option, 0); }
  [[nodiscard]] static Value some(Value value);
  [[nodiscard]] static Value ok(Value value);
  /// `failure`: a record of TypeTable::failure.
  [[nodiscard]] static Value err(Value failure);
  /// Creates the Failure record. `blame`: the requirement, tool, model or budget that failed.
  [[nodiscard]] static Value failure(types::FailureKind kind, std::string message, std::string place,
                                     std::string blame);
  /// An empty context.
  [[nodiscard]] static Value empty_context();
  /// `origin`: where the secret entered, for people, such as `token` or `login.token`; UTF-8. `sealed`: bytes that can
  /// only be decrypted with the key; empty if they are not kept.
  [[nodiscard]] static Value secret(std::string origin, std::string sealed);

  [[nodiscard]] Tag tag() const { return static_cast<Tag>(head_ & 0xFFU); }
  [[nodiscard]] bool is_object() const { return (head_ & 0xFFU) >= static_cast<std::uint64_t>(first_object_tag); }
  [[nodiscard]] LabelId label() const { return {static_cast<std::uint32_t>(head_ >> 32U)}; }
  /// Replaces the label of the value itself, not of a String's spans. To add to a label use `add_label`.
  void set_label(LabelId label) { head_ = (head_ & 0xFFFF'FFFFU) | (static_cast<std::uint64_t>(label.index) << 32U); }

  // Each of these requires the tag that it names; another one is a bug of the caller.
  [[nodiscard]] bool as_boolean() const;
  [[nodiscard]] std::int64_t as_integer() const;
  [[nodiscard]] double as_float() const;
  /// String: valid UTF-8, until the value changes.
  [[nodiscard]] std::string_view as_text() const;
  /// List.
  [[nodiscard]] std::span<const Value> items() const;
  /// Map: a range of MapEntry, in the order of insertion.
  [[nodiscard]] MapEntries entries() const;
  /// Map: the value of the key, or null.
  [[nodiscard]] const Value* find_entry(std::string_view key) const;
  /// Record: fields. Variant: payload. Case: none.
  [[nodiscard]] std::span<const Value> fields() const;
  /// Record, Variant, Case. For an Option or Result always TypeTable::any_option or any_result.
  [[nodiscard]] types::TypeId type() const;
  /// Variant, Case: None 0, Some 1; Ok 0, Err 1.
  [[nodiscard]] std::uint32_t case_index() const;

  // Below: for the machine, which checks tags itself.

  /// The payload's 64 bits, for any tag.
  [[nodiscard]] std::uint64_t bits() const { return payload_; }
  [[nodiscard]] Object* object() const { return std::bit_cast<Object*>(payload_); }
  /// Takes ownership of the one reference that the caller has.
  [[nodiscard]] static Value adopt(Tag tag, Object* object) { return {tag, std::bit_cast<std::uint64_t>(object)}; }
  /// Tag and payload as given; not for objects.
  [[nodiscard]] static Value plain(Tag tag, std::uint64_t bits) { return {tag, bits}; }
  /// The object; the caller owns the reference from now on, and the value is () afterwards.
  [[nodiscard]] Object* forget_counted() noexcept {
    head_ = 0;
    return std::bit_cast<Object*>(std::exchange(payload_, 0));
  }
  /// Overwrites with a value that is not an object. Most instructions do it, so it is never a call.
  [[gnu::always_inline]] void set_plain(Tag tag, std::uint64_t bits, LabelId label = {}) {
    if (is_object()) [[unlikely]]
      release();
    head_ = static_cast<std::uint64_t>(tag) | (static_cast<std::uint64_t>(label.index) << 32U);
    payload_ = bits;
  }
  void swap(Value& other) noexcept {
    std::swap(head_, other.head_);
    std::swap(payload_, other.payload_);
  }

 private:
  Value(Tag tag, std::uint64_t payload) : head_(static_cast<std::uint64_t>(tag)), payload_(payload) {}
  inline void retain() const noexcept;
  inline void release() noexcept;

  std::uint64_t head_ = 0;  ///< the tag in the lowest byte, the label in the upper four
  std::uint64_t payload_ = 0;
};
static_assert(sizeof(Value) == 16);

/// The header of every object.
struct Object {
  /// For an object that belongs to a program and is never freed by a value.
  static constexpr std::uint32_t immortal = UINT32_MAX;

  explicit Object(Tag kind) : tag(kind) {}
  [[nodiscard]] bool is_shared() const { return references != 1; }

  std::uint32_t references = 1;
  Tag tag;
};

/// Frees an object without references, and everything that only it referred to, without recursion.
void destroy(Object* object) noexcept;

void Value::retain() const noexcept {
  Object* const referred = object();
  if (referred->references != Object::immortal) ++referred->references;
}

void Value::release() noexcept {
  Object* const referred = object();
  if (referred->references == Object::immortal) return;
  if (--referred->references == 0) destroy(referred);
}

struct MapEntry {
  Value key;  ///< String; () if the entry was removed
  Value value;
};

/// The entries of a map, without removed ones. Valid until the map changes.
class MapEntries {
 public:
  class Iterator {
   public:
    using value_type = MapEntry;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const MapEntry* at, const MapEntry* end) : at_(at), end_(end) { skip(); }
    const MapEntry& operator*() const { return *at_; }
    const MapEntry* operator->() const { return at_; }
    Iterator& operator++() {
      ++at_;
      skip();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void skip() {
      while (at_ != end_ && at_->key.tag() == Tag::Unit) ++at_;
    }
    const MapEntry* at_ = nullptr;
    const MapEntry* end_ = nullptr;
  };

  MapEntries(std::span<const MapEntry> slots, std::size_t size) : slots_(slots), size_(size) {}
  [[nodiscard]] Iterator begin() const { return {slots_.data(), slots_.data() + slots_.size()}; }
  [[nodiscard]] Iterator end() const { return {slots_.data() + slots_.size(), slots_.data() + slots_.size()}; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::span<const MapEntry> slots_;
  std::size_t size_;
};

/// Adds to the label of a value and of a String's spans. Everything that is extracted from an aggregate later gets it
/// too.
void add_label(Value& value, LabelId label, LabelTable& labels);
/// The label of a value and of everything inside it, in place of those that they have. What is shared is copied.
void replace_labels(Value& value, LabelId label);
/// The join of the labels of a value and everything inside it.
[[nodiscard]] LabelId whole_label(const Value& value, LabelTable& labels);
/// The same; adds the number of visited values.
[[nodiscard]] LabelId whole_label(const Value& value, LabelTable& labels, std::uint64_t& values);

/// Numbers by value (NaN is not equal to anything), strings by code points, the rest by structure; labels are ignored.
/// Values with different tags are not equal. Takes time linear in the size of both, for any nesting and sharing.
[[nodiscard]] bool equal(const Value& a, const Value& b);

}  // namespace tenon::vm
