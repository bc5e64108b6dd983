#include "bytecode/disassembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "types/builtins.h"

namespace tenon::bytecode {
namespace {

using types::TypeId;

constexpr std::size_t shown_text_max = 40;

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  const bool is_cut = text.size() > shown_text_max;
  text = cut_utf8(text, shown_text_max);
  for (const char byte : text) {
    if (byte == '\n') {
      quoted += "\\n";
    } else if (byte == '"' || byte == '\\') {
      quoted += '\\';
      quoted += byte;
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      quoted += byte;
    }
  }
  return quoted + (is_cut ? "…\"" : "\"");
}

class Disassembler {
 public:
  Disassembler(const Program& program, const Function& function) : program_(program), function_(function) {}

  std::string run() {
    collect_targets();
    std::string out = "fn " + function_.name + "(";
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      const std::string name = i < function_.parameter_names.size() ? function_.parameter_names[i] : "?";
      out += fmt::format("{}r{} {}: {}", i == 0 ? "" : ", ", i, name, type(function_.parameters[i]));
    }
    out += fmt::format(") -> {}  ; {} registers", type(function_.result), function_.register_count);
    if (function_.context_register != no_register) out += fmt::format(", context in r{}", function_.context_register);
    out += '\n';
    auto line = function_.lines.begin();
    for (std::uint32_t pc = 0; pc < function_.code.size(); ++pc) {
      const bool is_target = targets_.contains(pc);
      std::string text = fmt::format("{}{:5}  {}", is_target ? '>' : ' ', pc, instruction(pc));
      if (line != function_.lines.end() && line->pc == pc) {
        text += fmt::format("{:{}}; {}", "", text.size() < 60 ? 60 - text.size() : 1, place(line->place));
        ++line;
      }
      out += text + '\n';
    }
    for (const Handler& handler : function_.handlers) {
      out += fmt::format("  on failure in {}..{}: to {} with the failure in r{}, {} budgets open\n", handler.begin,
                         handler.end, handler.target, handler.failure, handler.budget_depth);
    }
    for (const FinallyHandler& cleanup : function_.finally_handlers) {
      if (is_shield(function_, cleanup)) {
        out += fmt::format("  shield {}..{}, with the cancellation in r{}\n", cleanup.block, cleanup.end, cleanup.kept);
        continue;
      }
      out += fmt::format("  finally for {}..{}: {}..{}, with the failure in r{}, {} budgets open\n", cleanup.begin,
                         cleanup.block, cleanup.block, cleanup.end, cleanup.kept, cleanup.budget_depth);
    }
    return out;
  }

 private:
  void collect_targets() {
    for (std::uint32_t pc = 0; pc < function_.code.size(); ++pc) {
      const Instruction i = function_.code[pc];
      const InstructionInfo* const info = find_instruction(i.opcode);
      if (info == nullptr) continue;
      if (info->operands[1] == Operand::Jump) targets_.insert(std::int64_t{pc} + 1 + i.signed_wide());
      if (info->operands[1] == Operand::Table && i.wide() < program_.jump_tables.size()) {
        const JumpTable& table = program_.jump_tables[i.wide()];
        targets_.insert(table.targets.begin(), table.targets.end());
        if (info->opcode == Opcode::Switch) targets_.insert(table.otherwise);
      }
    }
    for (const Handler& handler : function_.handlers) targets_.insert(handler.target);
    for (const FinallyHandler& cleanup : function_.finally_handlers) targets_.insert(cleanup.block);
  }

  std::string type(TypeId id) const { return id.index < program_.types.size() ? program_.types.describe(id) : "?"; }

  std::string place(const Place& place) const {
    const std::string path = place.file < program_.sources.size() ? program_.sources[place.file].path : "?";
    return fmt::format("{}:{}:{}", path, place.line, place.column);
  }

  std::string instruction(std::uint32_t pc) const {
    const Instruction i = function_.code[pc];
    const InstructionInfo* const info = find_instruction(i.opcode);
    if (info == nullptr) return fmt::format("? {} {} {} {}", i.opcode, i.a, i.b, i.c);
    std::string text = fmt::format("{:<18}", info->name);
    const std::uint16_t fields[3] = {i.a, i.b, i.c};
    bool is_first = true;
    for (std::size_t k = 0; k < 3; ++k) {
      if (info->operands[k] == Operand::None) continue;
      text += is_first ? " " : ", ";
      is_first = false;
      text += operand(info->operands[k], fields[k], i, pc);
    }
    return text;
  }

  template <class Table>
  std::string named(const Table& table, std::uint32_t index, std::string_view what) const {
    return index < table.size() ? table[index].name : fmt::format("{} {}?", what, index);
  }

  std::string operand(Operand kind, std::uint16_t field, Instruction i, std::uint32_t pc) const {
    switch (kind) {
      case Operand::None:
        return "";
      case Operand::Read:
      case Operand::Write:
      case Operand::ReadWrite:
        return fmt::format("r{}", field);
      case Operand::Window:
        return fmt::format("r{}…", field);
      case Operand::Constant:
        return constant(i.wide());
      case Operand::Immediate:
        return fmt::format("{}", i.signed_wide());
      case Operand::Short:
        return fmt::format("{}", i.signed_c());
      case Operand::Count:
        return fmt::format("{}", field);
      case Operand::Type:
        return type({field});
      case Operand::Field:
        return fmt::format("#{}", field);
      case Operand::Jump:
        return fmt::format("to {}", std::int64_t{pc} + 1 + i.signed_wide());
      case Operand::Function:
        return named(program_.functions, i.wide(), "function");
      case Operand::Extern:
        return named(program_.externs, i.wide(), "extern");
      case Operand::Site:
        return site(i.wide());
      case Operand::Table:
        return table(i);
      case Operand::Budget:
        return budget(i.wide());
      case Operand::Builtin: {
        const types::BuiltinInfo* const info = types::find_builtin(field);
        return info != nullptr ? std::string(info->name) : fmt::format("built-in {}?", field);
      }
    }
    return "?";
  }

  std::string constant(std::uint32_t index) const {
    if (index >= program_.constants.size()) return fmt::format("constant {}?", index);
    const Constant& value = program_.constants[index];
    if (const auto* const boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
    if (const auto* const integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
    if (const auto* const number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const auto* const text = std::get_if<std::string>(&value)) return quote(*text);
    return "()";
  }

  std::string site(std::uint32_t index) const {
    if (index >= program_.sites.size()) return fmt::format("site {}?", index);
    const Site& site = program_.sites[index];
    switch (site.kind) {
      case SiteKind::Completion:
        return fmt::format("site {}: {}", index, type(site.result));
      case SiteKind::Fill:
        return fmt::format("site {}: {}", index, site.call.name);
      case SiteKind::Select: {
        std::string names;
        for (const Clause& clause : site.clauses) {
          names += fmt::format("{}{}", names.empty() ? "" : " | ",
                               clause.is_else  ? "else"
                               : clause.is_set ? ".."
                                               : clause.call.name);
        }
        return fmt::format("site {}: {}", index, names);
      }
    }
    return "?";
  }

  std::string table(Instruction i) const {
    if (i.wide() >= program_.jump_tables.size()) return fmt::format("table {}?", i.wide());
    const JumpTable& table = program_.jump_tables[i.wide()];
    std::string text = fmt::format("[{}]", fmt::join(table.targets, " "));
    if (i.opcode == static_cast<std::uint16_t>(Opcode::Switch)) text += fmt::format(" else {}", table.otherwise);
    return text;
  }

  std::string budget(std::uint32_t index) const {
    if (index >= program_.budgets.size()) return fmt::format("budget {}?", index);
    std::string text;
    for (const auto& [name, bound] : named_bounds) {
      const std::optional<std::uint64_t>& amount = program_.budgets[index].bounds.*bound;
      if (amount) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, *amount);
    }
    if (const auto bits = program_.budgets[index].bounds.bits) {
      text += fmt::format("{}bits: {}", text.empty() ? "" : ", ", *bits);
    }
    return "budget(" + text + ")";
  }

  const Program& program_;
  const Function& function_;
  std::set<std::int64_t> targets_;
};

}  // namespace

std::string disassemble(const Program& program, const Function& function) {
  return Disassembler(program, function).run();
}

std::string disassemble(const Program& program) {
  std::string out;
  for (const Function& function : program.functions) {
    if (!out.empty()) out += '\n';
    out += disassemble(program, function);
  }
  for (std::size_t at = 0; at < program.tools.size(); ++at) {
    const Tool& tool = program.tools[at];
    out += fmt::format("{}tool {}: {}  ; {}\n", at == 0 ? "\n" : "", at, tool.call.signature,
                       tool.function < program.functions.size() ? program.functions[tool.function].name : "?");
  }
  return out;
}

}  // namespace tenon::bytecode
