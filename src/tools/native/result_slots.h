#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "types/table/type_table.h"
#include "vm/limits.h"
#include "vm/values/refinements.h"
#include "vm/values/value.h"

namespace tenon::tools {

/// Nesting of a value that a library builds, or that is copied for it.
inline constexpr std::uint32_t extern_depth_max = 1'000;
/// Number of values in one result, without the numbers in lists of numbers.
inline constexpr std::size_t extern_slots_max = 16U * 1024U * 1024U;

enum class SlotState : std::uint8_t {
  Empty,
  Whole,  ///< `whole` is the value
  Parts,  ///< `parts` are the items, fields, payload or entries' values
};

/// A place in the result, of a declared type.
struct Slot {
  types::TypeId type;
  Slot* parent = nullptr;
  std::uint32_t position = 0;  ///< in the parent
  std::uint32_t depth = 0;
  std::uint32_t case_index = 0;
  SlotState state = SlotState::Empty;
  vm::Value whole;
  std::vector<Slot*> parts;
  std::vector<std::string> keys;  ///< a map's, parallel to `parts`
};

/// A result, or the arguments of a function, as a library or a host builds it, from the whole to its parts. Every write
/// is checked against the declared type, so that the result always has it. The first mismatch is kept as the failure; a
/// write after it, or to null, does nothing.
class ResultSlots final {
 public:
  ResultSlots(const vm::Refinements& refinements, types::TypeId result, std::string_view blame);
  /// Several values, one per parameter; messages name them as the arguments of these names, which live as long as this.
  ResultSlots(const vm::Refinements& refinements, std::span<const types::TypeId> parameters,
              std::span<const std::string> names);
  ResultSlots(const ResultSlots&) = delete;
  ResultSlots& operator=(const ResultSlots&) = delete;

  /// Keeps the first message; bytes that are not UTF-8 are replaced.
  void fail(std::string message);
  [[nodiscard]] bool has_failed() const { return failure_.has_value(); }
  [[nodiscard]] const std::optional<std::string>& failure_message() const { return failure_; }

  [[nodiscard]] Slot* root(std::size_t index = 0) { return index < roots_ ? &slots_[index] : nullptr; }
  void put_boolean(Slot* slot, bool value);
  void put_integer(Slot* slot, std::int64_t value);
  void put_float(Slot* slot, double value);
  void put_text(Slot* slot, const char* data, std::size_t length);
  /// A copy, without labels.
  void put_value(Slot* slot, const vm::Value* value);
  /// A value as JSON of the slot's type.
  void put_json(Slot* slot, std::string_view text);
  void put_integers(Slot* slot, const std::int64_t* items, std::size_t count);
  void put_floats(Slot* slot, const double* items, std::size_t count);
  void put_list(Slot* slot);
  void put_map(Slot* slot);
  void put_case(Slot* slot, std::string_view name);
  void put_none(Slot* slot);
  void put_err(Slot* slot, std::string message);
  // The slot of a part; null if the part does not exist, which is a failure.
  [[nodiscard]] Slot* item(Slot* slot);
  [[nodiscard]] Slot* entry(Slot* slot, const char* key, std::size_t length);
  [[nodiscard]] Slot* field(Slot* slot, std::string_view name);
  [[nodiscard]] Slot* position(Slot* slot, std::size_t index);
  [[nodiscard]] Slot* some(Slot* slot);
  [[nodiscard]] Slot* ok(Slot* slot);

  /// Which part of a value was not stored yet, as a message. That is not a failure: it can still be stored.
  [[nodiscard]] std::optional<std::string> find_missing(std::size_t root = 0) const;
  /// The value, once it is complete; nothing after a failure.
  [[nodiscard]] std::optional<vm::Value> finish(std::size_t root = 0);

 private:
  [[nodiscard]] types::TypeId base(const Slot* slot) const { return types_.opened(slot->type); }
  /// Whether the slot accepts `what`; reports a failure otherwise.
  [[nodiscard]] bool accepts(const Slot* slot, bool fits, std::string_view what);
  [[nodiscard]] bool accepts_numbers(const Slot* slot, types::TypeKind kind, std::size_t count, std::string_view what);
  void set_whole(Slot* slot, vm::Value value);
  /// Makes the slot one of `part_types` parts, unless it is already.
  void open_parts(Slot* slot, std::span<const types::TypeId> part_types);
  [[nodiscard]] Slot* new_slot(Slot* parent, types::TypeId type, std::size_t position);
  void clear(Slot* slot);
  [[nodiscard]] std::optional<std::string> take_text(const Slot* slot, const char* data, std::size_t length);
  [[nodiscard]] std::optional<vm::Value> copy(const Slot* slot, types::TypeId type, const vm::Value& value,
                                              std::uint32_t depth);
  [[nodiscard]] std::optional<std::vector<vm::Value>> copy_all(const Slot* slot, std::span<const types::TypeId> types,
                                                               std::span<const vm::Value> values, std::uint32_t depth);
  [[nodiscard]] const Slot* find_missing_in(const Slot* slot) const;
  [[nodiscard]] std::string describe_missing(const Slot* slot) const;
  [[nodiscard]] std::optional<vm::Value> finish_slot(Slot* slot);
  [[nodiscard]] std::optional<vm::Value> assemble(const Slot* slot, std::vector<vm::Value> parts);
  /// The result, or the argument, that a slot is part of.
  [[nodiscard]] std::string describe_whole(const Slot* slot) const;
  /// `the result`, `.items[3].price` of the result.
  [[nodiscard]] std::string describe(const Slot* slot) const;

  const vm::Refinements& refinements_;
  const types::TypeTable& types_;
  std::string_view blame_;
  std::size_t roots_ = 1;
  std::span<const std::string> root_names_;  ///< of several roots
  std::optional<std::string> failure_;
  std::deque<Slot> slots_;  ///< never moved while the call lasts
  std::unordered_map<const Slot*, std::unordered_map<std::string, std::uint32_t>> keys_;
};

}  // namespace tenon::tools
