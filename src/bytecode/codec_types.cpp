#include <bit>
#include <optional>

#include "bytecode/codec.h"
#include "bytecode/codec_reading.h"

namespace tenon::bytecode {

using types::TypeId;
using types::TypeKind;
using wire::Reader;

namespace {

types::Refinement read_refinement(Reader& in) {
  types::Refinement refinement;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        refinement.name = read_text(message);
        return true;
      case 2:
        refinement.low = static_cast<std::int64_t>(message.fixed_value());
        return true;
      case 3:
        refinement.low = std::bit_cast<double>(message.fixed_value());
        return true;
      case 4:
        refinement.high = static_cast<std::int64_t>(message.fixed_value());
        return true;
      case 5:
        refinement.high = std::bit_cast<double>(message.fixed_value());
        return true;
      case 6:
        refinement.high_is_exclusive = message.value_up_to(1) != 0;
        return true;
      case 7:
        refinement.length_low = message.value();
        return true;
      case 8:
        refinement.length_high = message.value();
        return true;
      case 9:
        refinement.pattern = read_text(message);
        return true;
      case 10:
        refinement.documentation = read_text(message);
        return true;
      default:
        return false;
    }
  });
  return refinement;
}

types::UnionType read_union(Reader& in) {
  types::UnionType literals;
  std::vector<std::string> texts;
  std::optional<std::vector<std::int64_t>> numbers;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        literals.name = read_text(message);
        return true;
      case 2:
        texts.push_back(read_text(message));
        return true;
      case 3: {
        Reader packed(message.bytes_value());
        numbers.emplace();
        while (packed.is_good() && !packed.is_at_end()) numbers->push_back(packed.signed_varint());
        return packed.is_good();
      }
      case 4:
        literals.documentation = read_text(message);
        return true;
      case 5:
        literals.literal_documentation.push_back(read_text(message));
        return true;
      default:
        return false;
    }
  });
  if (numbers && !texts.empty()) in.reject();
  const std::size_t count = numbers ? numbers->size() : texts.size();
  const std::size_t documented = literals.literal_documentation.size();
  if (documented != 0 && documented != count) in.reject();
  if (numbers) {
    literals.literals = std::move(*numbers);
  } else {
    literals.literals = std::move(texts);
  }
  return literals;
}

types::Field read_field(Reader& in) {
  types::Field field;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        field.name = read_text(message);
        return true;
      case 2:
        field.type = {message.value32()};
        return true;
      case 3:
        field.documentation = read_text(message);
        return true;
      case 4:
        field.is_trusted = message.value_up_to(1) == 1;
        return true;
      default:
        return false;
    }
  });
  return field;
}

types::Variant read_variant(Reader& in) {
  types::Variant variant;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        variant.name = read_text(message);
        return true;
      case 2:
        variant.documentation = read_text(message);
        return true;
      case 3:
        variant.payload = read_types(message);
        return true;
      default:
        return false;
    }
  });
  return variant;
}

/// A struct with its fields or an enum with its cases: their messages have one form.
template <class Declared, class Member>
Declared read_declared(Reader& in, std::vector<Member> Declared::*members, Member (*read_member)(Reader&)) {
  Declared type;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        type.name = read_text(message);
        return true;
      case 2:
        type.documentation = read_text(message);
        return true;
      case 3:
        (type.*members).push_back(read_member(message));
        return true;
      default:
        return false;
    }
  });
  return type;
}

bool argument_count_is_right(const types::Type& type) {
  switch (type.kind) {
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Option:
    case TypeKind::Result:
    case TypeKind::Refined:
    case TypeKind::Range:
    case TypeKind::Secret:
      return type.arguments.size() == 1;
    case TypeKind::Tuple:
      return type.arguments.size() >= 2;
    case TypeKind::Closure:
      return !type.arguments.empty();
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Unit:
    case TypeKind::Boolean:
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::F64:
    case TypeKind::String:
    case TypeKind::Text:
    case TypeKind::Struct:
    case TypeKind::Enum:
    case TypeKind::Union:
    case TypeKind::Context:
    case TypeKind::Tools:
    case TypeKind::Parameter:
      return type.arguments.empty();
  }
  return false;
}

}  // namespace

void TypeReader::read(Reader& in, types::TypeTable& table) {
  const std::uint32_t index = table.size();
  types::Type type;
  std::optional<types::StructType> structure;
  std::optional<types::EnumType> enumeration;
  std::optional<types::UnionType> literals;
  std::optional<types::Refinement> refinement;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        type.kind = static_cast<TypeKind>(message.value_up_to(static_cast<std::uint64_t>(TypeKind::Tools)));
        return true;
      case 2:
        type.name = read_text(message);
        return true;
      case 3:
        type.arguments = read_types(message);
        return true;
      case 4:
        structure = read_declared(message, &types::StructType::fields, read_field);
        return true;
      case 5:
        enumeration = read_declared(message, &types::EnumType::variants, read_variant);
        return true;
      case 6:
        literals = read_union(message);
        return true;
      case 7:
        refinement = read_refinement(message);
        return true;
      default:
        return false;
    }
  });
  bool is_right = in.is_good() && index < types_max && argument_count_is_right(type) &&
                  structure.has_value() == (type.kind == TypeKind::Struct) &&
                  enumeration.has_value() == (type.kind == TypeKind::Enum) &&
                  literals.has_value() == (type.kind == TypeKind::Union) &&
                  refinement.has_value() == (type.kind == TypeKind::Refined);
  for (const TypeId argument : type.arguments) is_right = is_right && argument.index < index;
  if (literals) is_right = is_right && ++unions_ <= unions_max;
  if (refinement) is_right = is_right && ++refinements_ <= unions_max;
  if (!is_right) {
    in.reject();
    return;
  }
  TypeId made;
  if (structure) {
    made = table.add_struct(std::move(*structure));
  } else if (enumeration) {
    made = table.add_enum(std::move(*enumeration));
  } else if (literals) {
    made = table.make_union(std::move(*literals));
  } else if (refinement) {
    made = table.refined(type.arguments[0], std::move(*refinement));
  } else {
    made = table.intern(std::move(type));
  }
  if (made.index != index) in.reject();
}

}  // namespace tenon::bytecode
