#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "base/wire.h"
#include "bytecode/program.h"

/// Reading of messages, shared by codec_decode.cpp and codec_types.cpp. Internal to this folder.
namespace tenon::bytecode {

inline std::string read_text(wire::Reader& in) {
  const std::string_view bytes = in.bytes_value();
  if (find_invalid_utf8(bytes) != std::string_view::npos) in.reject();
  return in.is_good() ? std::string(bytes) : std::string();
}

inline Place read_place(wire::Reader& in) {
  wire::Reader packed(in.bytes_value());
  Place place;
  place.file = packed.varint32();
  place.line = packed.varint32();
  place.column = packed.varint32();
  if (!packed.is_good() || !packed.is_at_end()) in.reject();
  return place;
}

inline std::vector<types::TypeId> read_types(wire::Reader& in) {
  wire::Reader packed(in.bytes_value());
  std::vector<types::TypeId> types;
  while (packed.is_good() && !packed.is_at_end()) types.push_back({packed.varint32()});
  if (!packed.is_good()) in.reject();
  return types;
}

inline std::uint16_t read_number16(wire::Reader& packed) {
  const std::uint64_t value = packed.varint();
  if (value > UINT16_MAX) packed.reject();
  return packed.is_good() ? static_cast<std::uint16_t>(value) : std::uint16_t{0};
}

/// Reads the message in the field with `read(message, number)`, which leaves what it does not know to `reject`.
inline void read_message(wire::Reader& in, auto read) {
  wire::Reader message(in.bytes_value());
  while (message.next_field()) {
    if (!read(message, message.number())) message.reject();
  }
  if (!message.is_good()) in.reject();
}

/// Reads the types of a program.
class TypeReader {
 public:
  /// Adds one type, which must become the table's next; otherwise `in` is rejected.
  void read(wire::Reader& in, types::TypeTable& table);

 private:
  std::uint32_t unions_ = 0;
  std::uint32_t refinements_ = 0;
};

}  // namespace tenon::bytecode
