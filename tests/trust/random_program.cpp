#include "tests/trust/random_program.h"

#include <array>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

namespace tenon::test {
namespace {

enum class Type : std::uint8_t { Number, Truth, Text };
constexpr std::array<std::string_view, 3> type_names = {"i32", "Boolean", "String"};

struct Variable {
  std::string name;
  Type type = Type::Number;
  bool is_counter = false;  ///< of a loop: never assigned
};

struct Function {
  std::string name;
  std::vector<Type> parameters;
  Type result = Type::Number;
};

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    std::string text;
    for (int index = 0; index < 3; ++index) text += function("helper" + std::to_string(index));
    text += "agent Desk {\nstate {\ntotal: i32 = 0\nnote: String = \"\"\nis_set: Boolean = false\n}\n";
    is_in_agent_ = true;
    const std::vector<Function> outside = functions_;
    text += function("step");
    variables_ = {{"input", Type::Text, false}};
    result_ = Type::Text;
    text += "fn turn(ctx: Context, input: String) -> String {\n" + body(5);
    text += "sink(state.note)\n" + expression(Type::Text, 2) + "\n}\n}\n";
    functions_ = outside;
    is_in_agent_ = false;
    variables_.clear();
    has_result_ = false;
    text += "fn main() {\n" + body(5);
    text += "sink(Desk::run(" + expression(Type::Text, 1) + "))\n";
    text += body(3) + "}\n";
    return text;
  }

 private:
  std::size_t pick(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  Type any_type() { return static_cast<Type>(pick(3)); }
  std::string fresh() { return "v" + std::to_string(names_++); }

  std::string function(const std::string& name) {
    Function made{name, {}, any_type()};
    std::string parameters;
    variables_.clear();
    for (std::size_t at = pick(3); at > 0; --at) {
      const Type type = any_type();
      made.parameters.push_back(type);
      variables_.push_back({fresh(), type, false});
      if (!parameters.empty()) parameters += ", ";
      parameters += variables_.back().name + ": " + std::string(type_names[static_cast<std::size_t>(type)]);
    }
    result_ = made.result;
    has_result_ = true;
    std::string text = "fn " + name + "(" + parameters + ") -> " +
                       std::string(type_names[static_cast<std::size_t>(made.result)]) + " {\n" + body(4);
    text += expression(made.result, 2) + "\n}\n";
    functions_.push_back(std::move(made));
    return text;
  }

  /// Statements of a block, whose variables end with it.
  std::string body(std::size_t count) {
    const std::size_t before = variables_.size();
    std::string text;
    for (std::size_t at = 0; at < count; ++at) text += statement();
    if (depth_ > 0) variables_.resize(before);
    return text;
  }

  std::string block() {
    ++depth_;
    std::string text = "{\n" + body(1 + pick(2)) + "}";
    --depth_;
    return text;
  }

  std::string statement() {
    switch (depth_ < 3 ? pick(14) : pick(6)) {
      case 0:
      case 1: {
        const Type type = any_type();
        std::string value = expression(type, 2);
        variables_.push_back({fresh(), type, false});
        return "let " + variables_.back().name + " = " + value + "\n";
      }
      case 2:
      case 3:
        return assignment();
      case 4:
        return "sink(" + expression(Type::Text, 2) + ")\n";
      case 5:
        return leave();
      case 6:
      case 7:
        return "if " + expression(Type::Truth, 2) + " " + block() + "\n";
      case 8:
        return "if " + expression(Type::Truth, 2) + " " + block() + " else " + block() + "\n";
      case 9: {
        const std::string name = fresh();
        const std::string bound = expression(Type::Number, 1);
        return "for " + name + " in 0..(" + bound + ") " + loop({name, Type::Number, true}) + "\n";
      }
      case 10: {
        const std::string name = fresh();
        return "for " + name + " in " + list() + " " + loop({name, Type::Text, true}) + "\n";
      }
      case 12:
        return "for _ in " + list() + " parallel(2) { sink(" + expression(Type::Text, 1) + ") }\n";
      case 11: {
        const std::string name = fresh();
        const std::string bound = expression(Type::Number, 1);
        std::string inner = loop({name, Type::Number, true});
        return "let " + name + " = 0\nwhile " + name + " < " + bound + " {\n" + name + " += 1\n" + inner + "\n}\n";
      }
      default:
        return "match " + expression(Type::Number, 2) + " {\n0 => " + block() + "\n1 | 2 => " + block() + "\n_ => " +
               block() + "\n}\n";
    }
  }

  std::string loop(Variable counter) {
    ++loops_;
    variables_.push_back(std::move(counter));
    std::string text = block();
    variables_.pop_back();
    --loops_;
    return text;
  }

  /// Leaves the loop or the function, because of a decision.
  std::string leave() {
    const std::string when = "if " + expression(Type::Truth, 1) + " { ";
    if (loops_ > 0) return when + (pick(2) == 0 ? "break" : "continue") + " }\n";
    if (!has_result_) return when + "return }\n";
    return when + "return " + expression(result_, 1) + " }\n";
  }

  std::string assignment() {
    if (is_in_agent_ && pick(2) == 0) {
      switch (any_type()) {
        case Type::Number:
          return "state.total = " + expression(Type::Number, 2) + "\n";
        case Type::Truth:
          return "state.is_set = " + expression(Type::Truth, 2) + "\n";
        case Type::Text:
          return "state.note = " + expression(Type::Text, 1) + "\n";
      }
    }
    for (std::size_t tries = 0; tries < 4 && !variables_.empty(); ++tries) {
      const Variable& variable = variables_[pick(variables_.size())];
      if (variable.is_counter) continue;
      return variable.name + " = " + expression(variable.type, 2) + "\n";
    }
    return "sink(\"nothing to assign\")\n";
  }

  std::string list() {
    const std::string items = "[" + expression(Type::Text, 1) + ", " + expression(Type::Text, 1) + "]";
    switch (pick(3)) {
      case 0:
        return items;
      case 1:
        return items + ".filter(|x| x.len() < " + expression(Type::Number, 1) + ")";
      default:
        return expression(Type::Text, 1) + ".chars()";
    }
  }

  std::string expression(Type type, std::size_t depth) {
    std::vector<const Variable*> known;
    for (const Variable& variable : variables_) {
      if (variable.type == type) known.push_back(&variable);
    }
    if (!known.empty() && pick(3) == 0) return known[pick(known.size())]->name;
    if (depth > 0 && pick(5) == 0) {
      if (std::string call = call_of(type); !call.empty()) return call;
    }
    if (depth > 0 && pick(6) == 0) {
      return "(if " + expression(Type::Truth, depth - 1) + " { " + expression(type, depth - 1) + " } else { " +
             expression(type, depth - 1) + " })";
    }
    switch (type) {
      case Type::Number:
        return number(depth);
      case Type::Truth:
        return truth(depth);
      case Type::Text:
        return words(depth);
    }
    return {};
  }

  std::string call_of(Type type) {
    std::vector<const Function*> fitting;
    for (const Function& function : functions_) {
      if (function.result == type) fitting.push_back(&function);
    }
    if (fitting.empty()) return {};
    const Function& callee = *fitting[pick(fitting.size())];
    std::string arguments;
    for (const Type parameter : callee.parameters) {
      if (!arguments.empty()) arguments += ", ";
      arguments += expression(parameter, 0);
    }
    return callee.name + "(" + arguments + ")";
  }

  std::string number(std::size_t depth) {
    switch (depth == 0 ? pick(2) : pick(5)) {
      case 0:
        return std::to_string(pick(4));
      case 1:
        return is_in_agent_ && pick(2) == 0 ? "state.total" : "count()";
      case 2:
        return "((" + expression(Type::Number, depth - 1) + " + " + expression(Type::Number, depth - 1) + ") % 5)";
      case 3:
        return "(" + expression(Type::Text, depth - 1) + ".len() as i32 % 4)";
      default:
        return "(" + list() + ".len() as i32)";
    }
  }

  std::string truth(std::size_t depth) {
    switch (depth == 0 ? pick(2) : pick(6)) {
      case 0:
        return "flag()";
      case 1:
        return is_in_agent_ && pick(2) == 0 ? "state.is_set" : (pick(2) == 0 ? "true" : "false");
      case 2:
        return "(" + expression(Type::Number, depth - 1) + " < " + expression(Type::Number, depth - 1) + ")";
      case 3:
        return "(" + expression(Type::Text, depth - 1) + " == " + expression(Type::Text, depth - 1) + ")";
      case 4:
        return "(" + expression(Type::Truth, depth - 1) + (pick(2) == 0 ? " && " : " || ") +
               expression(Type::Truth, depth - 1) + ")";
      default:
        return list() + ".any(|x| x == " + expression(Type::Text, depth - 1) + ")";
    }
  }

  std::string words(std::size_t depth) {
    switch (depth == 0 ? pick(3) : pick(4)) {
      case 0:
        return "\"w" + std::to_string(pick(4)) + "\"";
      case 1:
        return "word()";
      case 2:
        return is_in_agent_ ? "state.note" : "\"other\"";
      default:
        return "\"{{ " + expression(Type::Number, 0) + " }}\"";
    }
  }

  std::mt19937_64 random_;
  std::vector<Variable> variables_;
  std::vector<Function> functions_;
  Type result_ = Type::Number;
  bool has_result_ = true;
  bool is_in_agent_ = false;
  std::size_t names_ = 0;
  std::size_t depth_ = 0;
  std::size_t loops_ = 0;
};

}  // namespace

std::string make_random_program(std::uint64_t seed) {
  return Writer(seed).write();
}

std::uint64_t random_program_count() {
  const char* const wanted = std::getenv("TENON_TRUST_PROGRAMS");
  return wanted == nullptr ? 200 : std::strtoull(wanted, nullptr, 10);
}

}  // namespace tenon::test
