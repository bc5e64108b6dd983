#include "tests/support/assembler.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/ensure.h"
#include "types/builtins.h"

namespace tenon::test {
namespace {

using bytecode::Constant;
using bytecode::Function;
using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Program;

using Words = std::vector<std::string>;

/// Words are separated by spaces; a "…" string is one word, including its first quote, unescaped. `#` begins a comment.
Words words_of(std::string_view line) {
  Words words;
  std::size_t i = 0;
  while (i < line.size()) {
    if (line[i] == ' ') {
      ++i;
    } else if (line[i] == '#') {
      break;
    } else if (line[i] == '"') {
      std::string text = "\"";
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\' && i + 1 < line.size()) {
          ++i;
          text += line[i] == 'n' ? '\n' : line[i];
        } else {
          text += line[i];
        }
      }
      ++i;
      words.push_back(text);
    } else {
      const std::size_t end = std::min(line.find(' ', i), line.size());
      words.emplace_back(line.substr(i, end - i));
      i = end;
    }
  }
  return words;
}

[[noreturn]] void give_up(std::size_t line, const std::string& message) {
  std::fprintf(stderr, "assembler: line %zu: %s\n", line, message.c_str());
  std::abort();
}

class Assembler {
 public:
  explicit Assembler(Program base) : program_(std::move(base)) {
    if (program_.sources.empty()) program_.sources.push_back({"test.tn", ""});
  }

  Program run(std::string_view text) {
    std::vector<Words> lines;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      lines.push_back(words_of(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    // All functions are numbered before the first one is assembled.
    for (const Words& words : lines) {
      if (!words.empty() && words[0] == "fn")
        functions_.emplace(words.at(1), static_cast<std::uint32_t>(functions_.size()));
    }
    std::size_t begin = 0;
    while (begin < lines.size()) {
      if (lines[begin].empty() || lines[begin][0] != "fn") {
        ++begin;
        continue;
      }
      std::size_t end = begin + 1;
      while (end < lines.size() && (lines[end].empty() || lines[end][0] != "fn")) ++end;
      write_function(lines, begin, end);
      begin = end;
    }
    return std::move(program_);
  }

 private:
  static bool is_label(const Words& words) { return words.size() == 1 && words[0].starts_with('@'); }

  void write_function(const std::vector<Words>& lines, std::size_t begin, std::size_t end) {
    labels_.clear();
    std::uint32_t pc = 0;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (lines[i].empty() || lines[i][0] == "handler") continue;
      if (is_label(lines[i])) {
        labels_[lines[i][0]] = pc;
      } else {
        ++pc;
      }
    }
    Function function;
    line_ = begin + 1;
    write_header(function, lines[begin]);
    for (std::size_t i = begin + 1; i < end; ++i) {
      line_ = i + 1;
      const Words& words = lines[i];
      if (words.empty() || is_label(words)) continue;
      if (words[0] == "handler") {
        function.handlers.push_back({label(words.at(1)), label(words.at(2)), label(words.at(3)),
                                     static_cast<std::uint16_t>(number(words.at(4))),
                                     static_cast<std::uint16_t>(words.size() > 5 ? number(words[5]) : 0)});
        continue;
      }
      pc_ = static_cast<std::uint32_t>(function.code.size());
      function.lines.push_back({pc_, {0, static_cast<std::uint32_t>(line_), 1}});
      function.code.push_back(write_instruction(words));
    }
    program_.functions.push_back(std::move(function));
  }

  void write_header(Function& function, const Words& words) {
    function.name = words.at(1);
    function.place = {0, static_cast<std::uint32_t>(line_), 1};
    function.result = types::TypeTable::unit;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      const std::string key = words[i].substr(0, equals);
      std::string value = words[i].substr(equals + 1);
      if (key == "registers") {
        function.register_count = static_cast<std::uint16_t>(number(value));
      } else if (key == "result") {
        function.result = type(value);
      } else if (key == "context") {
        function.context_register = static_cast<std::uint16_t>(number(value));
      } else if (key == "params") {
        while (!value.empty()) {
          const std::size_t comma = std::min(value.find(','), value.size());
          function.parameters.push_back(type(value.substr(0, comma)));
          function.parameter_names.push_back("p" + std::to_string(function.parameters.size() - 1));
          value.erase(0, std::min(comma + 1, value.size()));
        }
      } else {
        give_up(line_, "what is " + key + "?");
      }
    }
  }

  std::int64_t number(std::string_view word) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) give_up(line_, std::string(word) + " is no number");
    return value;
  }

  std::uint32_t label(const std::string& word) {
    const auto found = labels_.find(word);
    if (found == labels_.end()) give_up(line_, "no label " + word);
    return found->second;
  }

  types::TypeId type(std::string_view word) {
    if (word.starts_with('"')) word.remove_prefix(1);
    for (std::uint32_t index = 0; index < program_.types.size(); ++index) {
      if (program_.types.describe({index}) == word) return {index};
    }
    give_up(line_, "no type " + std::string(word));
  }

  std::uint32_t constant(const std::string& word) {
    Constant value;
    if (word.starts_with('"')) {
      value = word.substr(1);
    } else if (word == "true" || word == "false") {
      value = word == "true";
    } else if (word.find('.') != std::string::npos) {
      value = std::strtod(word.c_str(), nullptr);
    } else if (word != "()") {
      value = number(word);
    }
    for (std::uint32_t index = 0; index < program_.constants.size(); ++index) {
      if (program_.constants[index] == value) return index;
    }
    program_.constants.push_back(value);
    return static_cast<std::uint32_t>(program_.constants.size() - 1);
  }

  std::uint32_t table(const Words& words, std::size_t from) {
    bytecode::JumpTable made;
    bool is_default = false;
    for (std::size_t i = from; i < words.size(); ++i) {
      std::string word = words[i];
      if (word.starts_with('[')) word.erase(0, 1);
      if (word.ends_with(']')) word.pop_back();
      if (word == "else") {
        is_default = true;
      } else if (is_default) {
        made.otherwise = label(word);
      } else if (!word.empty()) {
        made.targets.push_back(label(word));
      }
    }
    program_.jump_tables.push_back(std::move(made));
    return static_cast<std::uint32_t>(program_.jump_tables.size() - 1);
  }

  std::uint32_t extern_index(const std::string& name) {
    for (std::uint32_t index = 0; index < program_.externs.size(); ++index) {
      if (program_.externs[index].name == name) return index;
    }
    give_up(line_, "no extern " + name);
  }

  std::uint16_t builtin(const std::string& name) {
    for (std::uint16_t number_of = 0; number_of < 256; ++number_of) {
      const types::BuiltinInfo* const info = types::find_builtin(number_of);
      if (info != nullptr && info->name == name) return number_of;
    }
    give_up(line_, "no built-in " + name);
  }

  Instruction write_instruction(const Words& words) {
    const bytecode::InstructionInfo* info = nullptr;
    for (std::uint16_t opcode = 0; opcode < 256; ++opcode) {
      const bytecode::InstructionInfo* const there = bytecode::find_instruction(opcode);
      if (there != nullptr && there->name == words[0]) info = there;
    }
    if (info == nullptr) give_up(line_, "no instruction " + words[0]);
    Instruction made{static_cast<std::uint16_t>(info->opcode), 0, 0, 0};
    std::size_t word = 1;
    for (std::size_t position = 0; position < 3; ++position) {
      const Operand kind = info->operands[position];
      if (kind == Operand::None) continue;
      if (word >= words.size()) give_up(line_, "too few operands");
      if (kind == Operand::Table) {
        set_wide(made, table(words, word));
        return made;
      }
      write_operand(made, position, kind, words[word++]);
    }
    if (word != words.size()) give_up(line_, "too many operands");
    return made;
  }

  static void set_wide(Instruction& made, std::uint32_t value) {
    made.b = static_cast<std::uint16_t>(value & 0xFFFFU);
    made.c = static_cast<std::uint16_t>(value >> 16U);
  }

  void write_operand(Instruction& made, std::size_t position, Operand kind, const std::string& word) {
    std::uint16_t& field = position == 0 ? made.a : position == 1 ? made.b : made.c;
    switch (kind) {
      case Operand::Constant:
        set_wide(made, constant(word));
        return;
      case Operand::Immediate:
      case Operand::Site:
      case Operand::Budget:
        set_wide(made, static_cast<std::uint32_t>(number(word)));
        return;
      case Operand::Jump:
        set_wide(made, label(word) - pc_ - 1);
        return;
      case Operand::Function:
        if (!functions_.contains(word)) give_up(line_, "no function " + word);
        set_wide(made, functions_.at(word));
        return;
      case Operand::Extern:
        set_wide(made, extern_index(word));
        return;
      case Operand::Builtin:
        field = builtin(word);
        return;
      case Operand::Type:
        field = static_cast<std::uint16_t>(type(word).index);
        return;
      case Operand::None:
      case Operand::Table:
      case Operand::Read:
      case Operand::Write:
      case Operand::ReadWrite:
      case Operand::Window:
      case Operand::Short:
      case Operand::Count:
      case Operand::Field:
        field = static_cast<std::uint16_t>(number(word));
        return;
    }
  }

  Program program_;
  std::map<std::string, std::uint32_t, std::less<>> functions_;
  std::map<std::string, std::uint32_t, std::less<>> labels_;
  std::size_t line_ = 0;
  std::uint32_t pc_ = 0;
};

}  // namespace

Program assemble(std::string_view text, Program base) {
  return Assembler(std::move(base)).run(text);
}

}  // namespace tenon::test
