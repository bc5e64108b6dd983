#include "tests/trust/random_program.h"

#include <array>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "tests/support/sanitized.h"

namespace tenon::test {
namespace {

enum class Type : std::uint8_t { Number, Truth, Text };
constexpr std::array<std::string_view, 3> type_names = {"i32", "Boolean", "String"};

/// Before `TYPE` is replaced.
constexpr std::string_view declarations = R"(
struct Pair { left: String, right: String }
struct Item { name: trusted String, body: String }
extern fn flag() -> Boolean
extern fn count() -> i32
extern fn word() -> String
extern fn item() -> Item
extern fn vouched() -> trusted String
extern fn report(text: String)
extern fn sink(text: TYPE)
extern fn careful(text: trusted String else approve)
fn answered(ctx: Context, what: String) -> String { "Which word?"!
  what! }
fn chosen(ctx: Context, what: String) -> trusted "w1" | "w2" { what! }
fn strict(to: TYPE) {
  PASS(to) }
fn risky(when: Boolean, what: String) -> String { if when { fail(what) }
  "fine" }
fn same(one: String, other: String) { if one != other { fail("not the same") } }
fn maybe(when: Boolean, what: String) -> String? { if when { Some(what) } else { None } }
fn spin(n: i32) -> i32 { let i = 0
  while i < n { i += 1 }
  i }
)";

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
  Writer(std::uint64_t seed, Constructs constructs) : random_(seed), constructs_(constructs) {}

  std::string write() {
    std::string text;
    for (int index = 0; index < 3; ++index) text += function("helper" + std::to_string(index));
    text += "agent Desk {\nstate {\ntotal: i32 = 0\nnote: String = \"\"\nis_set: Boolean = false\n}\n";
    is_in_agent_ = true;
    const std::vector<Function> outside = functions_;
    text += function("step");
    variables_ = {{"input", Type::Text, false}};
    result_ = Type::Text;
    has_context_ = true;
    text += "fn turn(ctx: Context, input: String) -> String {\n";
    text += "sink(ctx.len().to_string())\nsink(ctx.trusted_part().len().to_string())\n" + body(5);
    text += "sink(state.note)\n" + expression(Type::Text, 2) + "\n}\n}\n";
    functions_ = outside;
    is_in_agent_ = false;
    variables_.clear();
    has_result_ = false;
    text += std::string(constructs_ != Constructs::ThatNeverFail ? "fn main(ctx: Context)" : "fn main()") + " {\n" +
            body(5);
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
    if (constructs_ != Constructs::ThatNeverFail && pick(3) == 0) return rarer_statement();
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

  std::string text_of(std::size_t depth = 1) { return expression(Type::Text, depth); }
  std::string truth_of() { return expression(Type::Truth, 1); }

  /// A variable with this value, which can be assigned, and its declaration.
  std::string let(const std::string& value, Type type = Type::Text) {
    variables_.push_back({fresh(), type, false});
    return "let " + variables_.back().name + " = " + value + "\n";
  }

  /// A block that control leaves at its end, or by a failure.
  std::string closed_block() {
    ++closed_;
    std::string text = block();
    --closed_;
    return text;
  }

  /// What a failure says, and where it happened.
  static constexpr std::string_view report = "report(\"{{ f.place }} {{ f.message }}\")\n";

  /// `value catch f { … otherwise }`
  std::string caught(const std::string& value, const std::string& otherwise) {
    std::string text = value + " catch f {\n" + std::string(report);
    if (depth_ < 2 && pick(2) == 0) text += "if " + truth_of() + " " + closed_block() + "\n";
    return text + otherwise + "}\n";
  }

  std::string rarer_statement() {
    if (has_context_ && pick(3) == 0) return statement_on_context();
    if (depth_ < 3 && pick(3) == 0) return rarer_block();
    switch (pick(14)) {
      case 12:
        return "{\nsame(" + text_of() + ", " + text_of() + ")\nsink(" + text_of() + ")\n} catch f {\n" +
               std::string(report) + "}\n";
      case 13: {
        const std::string name = fresh();
        return "for " + name + " in [\"w0\", \"w1\", \"w2\"] {\n{\nsame(" + text_of() + ", " + name + ")\nsink(" +
               name + ")\n} catch _ { }\n}\n";
      }
      case 0:
        return caught("sink(" + text_of() + ")", "");
      case 1:
        return let(caught("risky(" + truth_of() + ", " + text_of() + ")", text_of(0) + "\n"));
      case 2: {
        const std::string left = fresh();
        const std::string right = fresh();
        std::string text =
            "let (" + left + ", " + right + ") = parallel {\n" + text_of(2) + "\n" + text_of(2) + "\n}\n";
        variables_.push_back({left, Type::Text, false});
        variables_.push_back({right, Type::Text, false});
        return text;
      }
      case 3: {
        const std::string pair = fresh();
        std::string text = "let " + pair + " = Pair { left: " + text_of() + ", right: " + text_of() + " }\n";
        variables_.push_back({pair + ".left", Type::Text, false});
        variables_.push_back({pair + ".right", Type::Text, false});
        return text;
      }
      case 4: {
        const std::string map = fresh();
        std::string text =
            "let " + map + " = Map::from([(\"w1\", " + text_of() + "), (" + text_of() + ", " + text_of() + ")])\n";
        text += "if " + truth_of() + " { " + map + "[" + text_of() + "] = " + text_of() + " }\n";
        return text + let(map + ".get(" + text_of() + ") ?? " + text_of(0));
      }
      case 5: {
        const std::string list = fresh();
        std::string text = "let " + list + " = [" + text_of() + ", " + text_of() + "]\n";
        text += "if " + truth_of() + " { " + list + ".push(" + text_of() + ") }\n";
        text += let(list + "[" + expression(Type::Number, 0) + " % 2]");
        text += let(list + ".join(\"-\")");
        return text + let(list + ".len() as i32", Type::Number);
      }
      case 6:
        return let("maybe(" + truth_of() + ", " + text_of() + ") ?? " + text_of(0));
      case 7:
        return let(caught("spin(" + expression(Type::Number, 1) + " * 8) budget(instructions: 60)", "1\n"),
                   Type::Number);
      case 8:
        if (constructs_ == Constructs::NoWaysUp || pick(2) == 0) {
          return let("answered(Context::new(), " + text_of() + ")");
        }
        return let("\"{{ chosen(Context::new(), " + text_of(0) + ") }}\"");
      case 9: {
        const std::string item = fresh();
        std::string text = "let " + item + " = item()\nsink(" + item + ".name)\n";
        variables_.push_back({item + ".body", Type::Text, false});
        return text;
      }
      case 10:
        if (constructs_ == Constructs::NoWaysUp) return let("vouched()");
        if (pick(3) == 0) return caught("careful(" + text_of() + ")", "");
        if (pick(3) == 0) return let(caught("approve(" + text_of() + ", \"Is it so?\")", text_of(0) + "\n"));
        return let(pick(2) == 0 ? "endorse(" + text_of() + ", \"it is random\")" : std::string("vouched()"));
      default:
        return caught("strict(" + text_of() + ")", "");
    }
  }

  std::string rarer_block() {
    switch (pick(4)) {
      case 0:
        return closed_block() + " finally " + closed_block() + "\n";
      case 1: {
        const std::string name = fresh();
        std::string text = "if let Some(" + name + ") = maybe(" + truth_of() + ", " + text_of() + ") ";
        return text + with_variable(name) + "\n";
      }
      case 2: {
        const std::string name = fresh();
        std::string text = "match try risky(" + truth_of() + ", " + text_of() + ") {\nOk(" + name + ") => ";
        text += with_variable(name) + "\nErr(f) => {\n";
        return text + std::string(report) + "sink(f.message)\n}\n}\n";
      }
      default:
        return closed_block() + " catch f {\n" + std::string(report) + "}\n";
    }
  }

  /// A block in which there is a text of that name.
  std::string with_variable(const std::string& name) {
    variables_.push_back({name, Type::Text, true});
    std::string text = block();
    variables_.pop_back();
    return text;
  }

  std::string statement_on_context() {
    switch (pick(5)) {
      case 0:
      case 1:
        return text_of() + "!\n";
      case 2:
        return "sink(_)\n";
      case 3:
        return "select {\nsink(_) => report(\"sunk\")\n" +
               std::string(constructs_ == Constructs::NoWaysUp ? "answered" : "chosen") +
               "(ctx, _) as word => sink(word)\nelse => report(\"nothing\")\n}\n";
      default:
        return "select {\n..tools { sink(_), answered(_), risky(_, " + text_of(0) +
               ") } as done => sink(done.arguments)\nelse => report(\"nothing\")\n}\n";
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
    if (closed_ > 0) return "sink(" + text_of() + ")\n";
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
  const Constructs constructs_;
  std::vector<Variable> variables_;
  std::vector<Function> functions_;
  Type result_ = Type::Number;
  bool has_result_ = true;
  bool is_in_agent_ = false;
  bool has_context_ = false;
  std::size_t names_ = 0;
  std::size_t depth_ = 0;
  std::size_t loops_ = 0;
  std::size_t closed_ = 0;  ///< blocks around that control must not leave
};

}  // namespace

std::string make_random_program(std::uint64_t seed, Constructs constructs) {
  return Writer(seed, constructs).write();
}

std::string declarations_of_random_programs(std::string_view type) {
  std::string text(declarations);
  const auto replace = [&](std::string_view word, std::string_view with) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
      text.replace(at, word.size(), with);
    }
  };
  replace("TYPE", type);
  // What has passed the test of `strict` is trusted, and what was not tested may be anything.
  replace("PASS", type == "String" ? "report" : "sink");
  return text;
}

std::uint64_t random_program_count() {
  const char* const wanted = std::getenv("TENON_TRUST_PROGRAMS");
  return wanted == nullptr ? cases(200) : std::strtoull(wanted, nullptr, 10);
}

}  // namespace tenon::test
