#include "bytecode/instructions.h"

namespace tenon::bytecode {
namespace {

constexpr InstructionInfo instructions[] = {
#define TENON_INFO(number, name, a, b, c, meaning) {Opcode::name, #name, {Operand::a, Operand::b, Operand::c}, meaning},
    TENON_INSTRUCTIONS(TENON_INFO)
#undef TENON_INFO
};

/// The position in `table` for each number, so that a lookup is a single access.
template <std::size_t size, class Table>
constexpr std::array<std::uint8_t, size> index_of(const Table& table, auto number_of) {
  std::array<std::uint8_t, size> index{};
  index.fill(UINT8_MAX);
  std::uint8_t position = 0;
  for (const auto& entry : table) index[number_of(entry)] = position++;
  return index;
}

constexpr auto instruction_index =
    index_of<256>(instructions, [](const auto& entry) { return static_cast<std::size_t>(entry.opcode); });

}  // namespace

const InstructionInfo* find_instruction(std::uint16_t opcode) {
  if (opcode >= instruction_index.size() || instruction_index[opcode] == UINT8_MAX) return nullptr;
  return &instructions[instruction_index[opcode]];
}

}  // namespace tenon::bytecode
