#include "tests/support/program_generator.h"

#include <utility>

namespace tenon::test {
namespace {

/// Sets a value until the end of the scope.
template <class T>
class Setting {
 public:
  Setting(T& target, T value) : target_(target), before_(std::exchange(target, value)) {}
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { target_ = before_; }

 private:
  T& target_;
  T before_;
};

}  // namespace

std::string ProgramGenerator::generate() {
  for (std::size_t count = 1 + below(5); count > 0; --count) {
    item();
    end_line();
  }
  return std::move(out_);
}

std::string_view ProgramGenerator::pick(std::initializer_list<std::string_view> words) {
  return words.begin()[below(words.size())];
}

void ProgramGenerator::space() {
  if (in_template_) {
    out_ += ' ';
  } else if (chance(40)) {
    out_ +=
        " /* c" + std::to_string(comments_++) + (newlines_ == Newlines::Allowed && chance(3) ? "\n *" : "") + " */ ";
  } else if (newlines_ == Newlines::Allowed && chance(20)) {
    out_ += chance(4) ? " // c" + std::to_string(comments_++) + " \n" : "\n  ";
    if (chance(4)) out_ += "\n\n";
  } else {
    out_.append(chance(10) ? 3 : 1, ' ');
  }
}

void ProgramGenerator::put(std::string_view token) {
  out_ += token;
  space();
}

void ProgramGenerator::put_on_line(std::string_view token) {
  const Setting<Newlines> lines(newlines_, Newlines::End);
  put(token);
}

void ProgramGenerator::end_line() {
  if (in_template_) {
    out_ += "; ";
    return;
  }
  if (chance(12)) out_ += " // c" + std::to_string(comments_++);
  out_ += '\n';
  if (chance(6)) out_ += "\n\n";
  if (chance(15)) out_ += "    /// c" + std::to_string(comments_++) + "\n";
}

template <class Element>
void ProgramGenerator::list(std::string_view open, std::string_view close, std::size_t count_max, Element element) {
  put(open);
  {
    const Setting<Newlines> lines(newlines_, Newlines::Allowed);
    const Setting<bool> literals(struct_literals_, true);
    const std::size_t count = below(count_max + 1);
    for (std::size_t index = 0; index < count; ++index) {
      element();
      if (index + 1 < count || chance(3)) put(",");
    }
  }
  put(close);
}

void ProgramGenerator::item() {
  switch (below(10)) {
    case 0:
      put("use");
      put("std");
      put_on_line("::");
      if (chance(2)) {
        list("{", "}", 4, [&] { name(); });
      } else {
        name();
      }
      if (chance(2)) put(";");
      return;
    case 1:
      return fields();
    case 2:
      return cases();
    case 3:
      put("type");
      put("N");
      put("=");
      type();
      if (chance(2)) put(";");
      return;
    case 4:
      put("impl");
      put("N");
      put("{");
      for (std::size_t count = below(3); count > 0; --count) function();
      put("}");
      return;
    case 5:
      return test();
    case 6:
      return agent();
    case 7:
      put("extern");
      put("fn");
      name();
      parameters();
      if (chance(2)) {
        put("->");
        type();
      }
      if (chance(2)) put(";");
      return;
    default:
      return function();
  }
}

void ProgramGenerator::fields() {
  put("struct");
  put("S");
  put("{");
  const bool lines = chance(2);
  for (std::size_t count = below(4); count > 0; --count) {
    if (lines && chance(4)) end_line();
    put("f");
    put(":");
    type();
    if (!lines) put(",");
    if (lines || chance(3)) end_line();
  }
  put("}");
}

void ProgramGenerator::agent() {
  put("agent");
  put("A");
  put("{");
  for (std::size_t count = below(4); count > 0; --count) {
    if (chance(2)) end_line();
    switch (below(8)) {
      case 0:
        state();
        break;
      case 1:
        put("instructions");
        block();
        break;
      case 2:
        put(chance(2) ? "start" : "next_turn");
        name();
        break;
      case 3:
        put(chance(2) ? "pre_turn" : "post_turn");
        agent_blocks();
        break;
      case 4:
      case 5:
        agent_block();
        break;
      default:
        function();
    }
  }
  if (chance(2)) end_line();
  put("}");
}

void ProgramGenerator::agent_blocks() {
  put("{");
  for (std::size_t count = below(3); count > 0; --count) {
    if (chance(2)) end_line();
    agent_block();
  }
  put("}");
}

void ProgramGenerator::agent_block() {
  const Setting<std::size_t> deeper(depth_, depth_ + 1);
  put("block");
  name();
  put(":");
  const std::string_view kind = pick({"code", "set", "request", "for_each"});
  put(kind);
  put("{");
  if (kind == "code" || kind == "set") {
    for (std::size_t count = below(3); count > 0; --count) {
      statement();
      end_line();
    }
  } else {
    for (std::size_t count = below(5); count > 0; --count) {
      block_part();
      if (chance(3)) put(",");
      end_line();
    }
  }
  if (chance(2)) target();
  put("}");
}

void ProgramGenerator::target() {
  put("->");
  name();
}

void ProgramGenerator::block_part() {
  switch (below(deep() ? 6 : 9)) {
    case 0:
      put("when");
      expression();
      return target();
    case 1:
      put("to");
      name();
      put(":");
      return string();
    case 2:
      put("else");
      return target();
    case 3:
      put("called");
      name();
      return target();
    case 4:
      put("item");
      name();
      put(":");
      type_name();
      put("in");
      return expression();
    case 5:
      put(pick({"prompt", "block", "when", "to"}));
      put(":");
      return expression();
    case 6:
      put("on");
      head();
      return list("{", "}", 3, [&] {
        const Setting<Newlines> lines(newlines_, Newlines::End);
        if (chance(4)) {
          put("else");
        } else {
          pattern();
        }
        target();
      });
    case 7:
      put("branch");
      name();
      return agent_blocks();
    default:
      return agent_block();
  }
}

void ProgramGenerator::state() {
  put(chance(3) ? "scratchpad" : "state");
  put("{");
  const bool lines = chance(2);
  for (std::size_t count = below(4); count > 0; --count) {
    if (lines && chance(4)) end_line();
    put("f");
    put(":");
    type();
    put("=");
    expression();
    if (!lines) put(",");
    if (lines || chance(3)) end_line();
  }
  put("}");
}

void ProgramGenerator::cases() {
  put("enum");
  put("E");
  list("{", "}", 4, [&] {
    const Setting<Newlines> lines(newlines_, Newlines::End);
    put("C");
    if (chance(2)) list("(", ")", 3, [&] { type(); });
  });
}

void ProgramGenerator::test() {
  put("test");
  out_ += "\"a test\" ";
  put("{");
  if (chance(2)) {
    put(chance(2) ? "model" : "extern");
    list("{", "}", 3, [&] {
      const Setting<Newlines> lines(newlines_, Newlines::End);
      put(pick({"f", "_", "select"}));
      put("=>");
      expression();
    });
  }
  for (std::size_t count = below(3); count > 0; --count) {
    statement();
    end_line();
  }
  put("}");
}

void ProgramGenerator::parameters() {
  list("(", ")", 5, [&] {
    put("p");
    if (chance(4)) return;
    put(":");
    type();
  });
}

void ProgramGenerator::budget() {
  put("budget");
  list("(", ")", 2, [&] {
    put("calls");
    put(":");
    put(pick({"4", "30s", "1.5"}));
  });
}

void ProgramGenerator::function() {
  put("fn");
  put("f");
  if (chance(4)) list("<", ">", 2, [&] { put("T"); });
  parameters();
  if (chance(2)) {
    put("->");
    type();
  }
  if (chance(5)) budget();
  block();
}

void ProgramGenerator::type() {
  const Setting<std::size_t> deeper(depth_, depth_ + 1);
  switch (below(deep() ? 2 : 8)) {
    case 2:
      put("List");
      return list("<", ">", 3, [&] { type(); });
    case 3:
      return list("(", ")", 3, [&] { type(); });
    case 4:
      put("\"one\"");
      for (std::size_t count = below(5); count > 0; --count) {
        put("|");
        put(pick({"\"two of them\"", "3", "-4"}));
      }
      return;
    case 5:
      type_name();
      put("?");
      if (chance(4)) put("?");
      return;
    case 6:
      put("i32");
      put("in");
      return put(pick({"0 ..", "1 ..= 5", "..9", "-3 .. 4 + 2"}));
    case 7:
      return put(pick({"String len 1..5", "String matching \"[a-z]{2}\""}));
    default:
      return type_name();
  }
}

void ProgramGenerator::pattern() {
  const Setting<std::size_t> deeper(depth_, depth_ + 1);
  switch (below(deep() ? 4 : 9)) {
    case 0:
      return put("_");
    case 1:
      return put(pick({"1", "-2", "\"text\"", "true", "1 ..= 5", "..3"}));
    case 2:
      return put("None");
    case 4:
      return list("(", ")", 3, [&] { pattern(); });
    case 5:
      put("Mood");
      put_on_line("::");
      put("Bad");
      return list("(", ")", 2, [&] { pattern(); });
    case 6:
      put("Point");
      put("{");
      put("x");
      put(",");
      if (chance(2)) {
        put("y");
        put(":");
        pattern();
        if (chance(2)) put(",");
      } else {
        put("..");
      }
      return put("}");
    case 7:
      if (chance(2)) put("|");
      put("1");
      put("|");
      return put("2");
    default:
      return name();
  }
}

void ProgramGenerator::block() {
  const Setting<Newlines> lines(newlines_, Newlines::End);
  const Setting<bool> literals(struct_literals_, true);
  const Setting<std::size_t> deeper(depth_, depth_ + 1);
  put("{");
  if (chance(2) && !in_template_) end_line();
  if (chance(20)) put(";");
  for (std::size_t count = below(deep() ? 2 : 4); count > 0; --count) {
    statement();
    if (chance(3)) put(";");
    if (chance(12)) put(";");
    end_line();
  }
  put("}");
}

void ProgramGenerator::statement() {
  switch (below(deep() ? 3 : 10)) {
    case 0:
      put("let");
      pattern();
      if (chance(3)) {
        put(":");
        type();
      }
      put("=");
      return expression();
    case 1:
      expression();
      return put("!");
    case 3:
      put("while");
      condition();
      return block();
    case 4:
      put("a");
      put(pick({"=", "+=", "-=", "*=", "/=", "%="}));
      return expression();
    case 5:
      put("assert");
      return expression();
    case 6:
      return if_else();
    default:
      return expression();
  }
}

/// An expression that is followed by a block.
void ProgramGenerator::head() {
  const Setting<bool> literals(struct_literals_, false);
  operand();
}

void ProgramGenerator::condition() {
  if (chance(5)) {
    put("let");
    pattern();
    put("=");
  }
  head();
}

void ProgramGenerator::if_else() {
  put("if");
  condition();
  block();
  while (chance(3)) {
    put("else");
    put("if");
    condition();
    block();
  }
  if (chance(2)) {
    put("else");
    block();
  }
}

void ProgramGenerator::arms(std::string_view keyword) {
  const Setting<Newlines> lines(newlines_, Newlines::End);
  const Setting<bool> literals(struct_literals_, true);
  put("{");
  const bool commas = chance(2);
  if (chance(2)) end_line();
  for (std::size_t count = below(4); count > 0; --count) {
    if (keyword == "match") {
      pattern();
      if (chance(4)) {
        put("if");
        operand();
      }
      put("=>");
    } else if (keyword == "select") {
      if (chance(5)) {
        put("else");
      } else {
        name();
        call_arguments();
        if (chance(2)) {
          put("as");
          put("sum");
        }
      }
      put("=>");
    } else if (chance(2)) {
      name();
      put("=");
    }
    if (chance(3)) {
      block();
    } else {
      expression();
      if (keyword != "parallel" && chance(4)) put("!");
    }
    if (commas) put(",");
    if (!commas || chance(2)) end_line();
  }
  put("}");
}

void ProgramGenerator::call_arguments() {
  list("(", ")", 4, [&] {
    if (chance(5)) {
      put("_");
    } else {
      expression();
    }
  });
}

void ProgramGenerator::string() {
  if (in_template_ || deep() || chance(2)) return put(pick({"\"\"", "\"some text\"", "\"\\n \\{{ x }} \\u{41}\""}));
  const bool triple = newlines_ == Newlines::Allowed && chance(2);
  out_ += triple ? "\"\"\"\n   text {{" : "\"a {{";
  {
    const Setting<bool> inside(in_template_, true);
    const Setting<bool> literals(struct_literals_, true);
    out_ += ' ';
    expression();
  }
  out_ += triple ? "}} \"\n  \"\"\"" : "}} b\"";
  space();
}

void ProgramGenerator::expression() {
  const Setting<std::size_t> deeper(depth_, depth_ + 1);
  operand();
  if (deep()) return;
  for (std::size_t count = chance(8) ? 8 : below(3); count > 0; --count) {
    put(pick({"+", "-", "*", "/", "%", "&&", "||", "??", "+", "+"}));
    operand();
  }
  switch (below(20)) {
    case 0:
      put("as");
      return put("i64");
    case 1:
      put(pick({"==", "!=", "<", "<=", ">", ">="}));
      return operand();
    case 2:
      put(pick({"..", "..="}));
      return put("5");
    case 3:
      put("catch");
      put("e");
      return block();
    default:
      return;
  }
}

void ProgramGenerator::operand() {
  const Setting<std::size_t> deeper(depth_, depth_ + 1);
  switch (below(deep() ? 4 : 24)) {
    case 0:
      return put(pick({"1", "0xFF", "1_000", "1.5", "2.", "1e3", "true", "false"}));
    case 1:
      return string();
    case 4:
      put(pick({"-", "!"}));
      return operand();
    case 5:
      return list("[", "]", 5, [&] { expression(); });
    case 6:
      return list("(", ")", 3, [&] { expression(); });
    case 7:
      put("(");
      {
        const Setting<Newlines> lines(newlines_, Newlines::Allowed);
        const Setting<bool> literals(struct_literals_, true);
        expression();
      }
      return put(")");
    case 8:
      put("f");
      return call_arguments();
    case 9:
      put("parse");
      put("<");
      put(pick({"i32", "List<List<i32>>", "i32 in 0..5"}));
      put(">");
      return call_arguments();
    case 10:
    case 11:
      put("xs");
      for (std::size_t count = 1 + below(4); count > 0; --count) {
        put_on_line(pick({".", ".", "?."}));
        name();
        if (!chance(3)) call_arguments();
      }
      return;
    case 12:
      put("pair");
      put_on_line(".");
      put("0");
      put_on_line(".");
      return put("1");
    case 13:
      put("xs");
      put("[");
      {
        const Setting<Newlines> lines(newlines_, Newlines::Allowed);
        const Setting<bool> literals(struct_literals_, true);
        expression();
      }
      return put("]");
    case 14:
      if (!struct_literals_) return name();
      put("Point");
      return list("{", "}", 3, [&] {
        put("x");
        if (chance(4)) return;
        put(":");
        expression();
      });
    case 15:
      return in_template_ ? name() : if_else();
    case 16:
    case 17: {
      if (in_template_) return name();
      const std::string_view keyword = pick({"match", "select"});
      put(keyword);
      if (keyword == "match") head();
      return arms(keyword);
    }
    case 18:
      if (in_template_ || !struct_literals_) return name();
      put("parallel");
      return arms("parallel");
    case 19:
      put("f");
      put("(");
      {
        const Setting<Newlines> lines(newlines_, Newlines::Allowed);
        const Setting<bool> literals(struct_literals_, true);
        put("|");
        name();
        if (chance(2)) {
          put(",");
          put("_");
        }
        put("|");
        if (!in_template_ && chance(2)) {
          block();
        } else {
          expression();
        }
      }
      return put(")");
    case 20:
      put("f");
      call_arguments();
      return budget();
    case 21:
      put("try");
      return operand();
    case 22:
      if (in_template_ || !struct_literals_) return name();
      put("for");
      pattern();
      put("in");
      head();
      if (chance(3)) put("parallel(4)");
      return block();
    default:
      return name();
  }
}

}  // namespace tenon::test
