// Compares verdicts about random conditions with their values in random states.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/one_file.h"
#include "types/check.h"
#include "types/plan/plan.h"

namespace tenon::types {
namespace {

constexpr const char* declarations = R"(
enum Phase { Open, Done, Lost }
struct State {
    a: i32, b: i32, c: i32, wide: i64,
    phase: Phase, other: Phase,
    kind: "x" | "y" | "z", size: 1 | 2 | 5,
    some: i32?, more: i32?, last: Phase?,
    text: String, name: String,
    yes: Boolean, no: Boolean,
    share: f64, rate: f64,
    items: List<i32>,
}
)";
constexpr std::array phases = {"Phase::Open", "Phase::Done", "Phase::Lost"};
constexpr std::array texts = {"", "x", "ab"};
constexpr std::array kinds = {"x", "y", "z"};

struct State {
  std::int64_t a = 0, b = 0, c = 0, wide = 0;
  int phase = 0, other = 0;
  int kind = 0;
  std::int64_t size = 1;
  std::optional<std::int64_t> some, more;
  std::optional<int> last;
  std::string text, name;
  bool yes = false, no = false;
  double share = 0, rate = 0;
  std::vector<std::int64_t> items;
};

template <class T>
struct Expression {
  std::string text;  ///< with `$` for the state
  /// Nothing if it cannot be computed.
  std::function<std::optional<T>(const State&)> value;
};
using Number = Expression<std::int64_t>;
using Truth = Expression<bool>;

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  State state() {
    State one;
    for (std::int64_t* const number : {&one.a, &one.b, &one.c, &one.wide}) *number = number_value();
    one.phase = below(3);
    one.other = below(3);
    one.kind = below(3);
    one.size = std::array{1, 2, 5}[at(3)];
    if (below(3) > 0) one.some = number_value();
    if (below(3) > 0) one.more = number_value();
    if (below(3) > 0) one.last = below(3);
    one.text = texts[at(3)];
    one.name = texts[at(3)];
    one.yes = below(2) == 1;
    one.no = below(2) == 1;
    one.share = share_value();
    one.rate = share_value();
    for (int count = below(3); count > 0; --count) one.items.push_back(number_value());
    return one;
  }

  Truth condition(int depth) {
    const int choice = depth == 0 ? 9 : below(6);
    if (choice == 0) {
      const Truth inner = condition(depth - 1);
      return {"!(" + inner.text + ")", [inner](const State& state) -> std::optional<bool> {
                const auto value = inner.value(state);
                if (!value) return std::nullopt;
                return !*value;
              }};
    }
    if (choice > 3) return comparison();
    const bool is_both = choice < 3;
    const Truth left = condition(depth - 1);
    const Truth right = condition(depth - 1);
    return {"(" + left.text + (is_both ? " && " : " || ") + right.text + ")",
            [=](const State& state) -> std::optional<bool> {
              const auto first = left.value(state);
              if (!first || *first != is_both) return first;
              return right.value(state);
            }};
  }

  static std::string literal(const State& state) {
    const auto option = [](const auto& value) { return value ? fmt::format("Some({})", *value) : std::string("None"); };
    std::string items;
    for (const std::int64_t item : state.items) items += fmt::format("{}, ", item);
    return fmt::format(
        "State {{ a: {}, b: {}, c: {}, wide: {}, phase: {}, other: {}, kind: \"{}\", size: {}, some: {}, more: {}, "
        "last: {}, text: \"{}\", name: \"{}\", yes: {}, no: {}, share: {:.1f}, rate: {:.1f}, items: [{}] }}",
        state.a, state.b, state.c, state.wide, phases[static_cast<std::size_t>(state.phase)],
        phases[static_cast<std::size_t>(state.other)], kinds[static_cast<std::size_t>(state.kind)], state.size,
        option(state.some), option(state.more),
        state.last ? fmt::format("Some({})", phases[static_cast<std::size_t>(*state.last)]) : "None", state.text,
        state.name, state.yes, state.no, state.share, state.rate, items);
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }
  std::size_t at(std::size_t count) { return random_() % count; }
  std::int64_t number_value() {
    const int choice = below(20);
    if (choice == 0) return std::numeric_limits<std::int32_t>::max();
    if (choice == 1) return std::numeric_limits<std::int32_t>::min() + 1;
    return below(6) - 2;
  }
  double share_value() { return std::array{-0.0, 0.0, 0.5, 1.0, 2.0, std::nan("")}[at(6)]; }

  Number field(const char* name, std::int64_t State::*member) {
    return {fmt::format("$.{}", name), [=](const State& state) { return std::optional(state.*member); }};
  }

  /// An i32.
  Number number() {
    const Number variable = std::array{field("a", &State::a), field("b", &State::b), field("c", &State::c)}[at(3)];
    const std::int64_t constant = below(5) - 1;
    const auto narrow = [](std::int64_t value) -> std::optional<std::int64_t> {
      if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
        return std::nullopt;
      }
      return value;
    };
    switch (below(9)) {
      case 0:
        return {fmt::format("({} + {})", variable.text, constant),
                [=](const State& state) { return narrow(*variable.value(state) + constant); }};
      case 1:
        return {fmt::format("({} - {})", constant, variable.text),
                [=](const State& state) { return narrow(constant - *variable.value(state)); }};
      case 2:
        return {fmt::format("({} - $.b)", variable.text),
                [=](const State& state) { return narrow(*variable.value(state) - state.b); }};
      case 3:
        return {"$.items[0]", [](const State& state) -> std::optional<std::int64_t> {
                  if (state.items.empty()) return std::nullopt;
                  return state.items[0];
                }};
      case 4:
      case 5:
        return {std::to_string(constant), [=](const State&) { return std::optional(constant); }};
      default:
        return variable;
    }
  }

  template <class T>
  static bool compare(const T& left, std::size_t operation, const T& right) {
    switch (operation) {
      case 0:
        return left == right;
      case 1:
        return left != right;
      case 2:
        return left < right;
      case 3:
        return left <= right;
      case 4:
        return left > right;
      default:
        return left >= right;
    }
  }
  static constexpr std::array operations = {"==", "!=", "<", "<=", ">", ">="};

  template <class T>
  Truth compared(const Expression<T>& left, const Expression<T>& right, std::size_t count = 6) {
    const std::size_t operation = at(count);
    return {fmt::format("{} {} {}", left.text, operations[operation], right.text),
            [=](const State& state) -> std::optional<bool> {
              const auto first = left.value(state);
              if (!first) return std::nullopt;
              const auto second = right.value(state);
              if (!second) return std::nullopt;
              return compare(*first, operation, *second);
            }};
  }

  template <class T>
  static Expression<T> known(std::string text, std::function<T(const State&)> value) {
    return {std::move(text), [=](const State& state) { return std::optional<T>(value(state)); }};
  }

  Truth comparison() {
    switch (below(13)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return compared(number(), number());
      case 4:
        return compared(known<std::int64_t>("$.wide", [](const State& state) { return state.wide; }),
                        known<std::int64_t>("($.a as i64)", [](const State& state) { return state.a; }));
      case 5:
        return compare_phase();
      case 6: {
        const std::size_t kind = at(3);
        return compared(
            known<int>("$.kind", [](const State& state) { return state.kind; }),
            known<int>(fmt::format("\"{}\"", kinds[kind]), [kind](const State&) { return static_cast<int>(kind); }), 2);
      }
      case 7: {
        const std::int64_t size = std::array{1, 2, 5}[at(3)];
        return compared(known<std::int64_t>("$.size", [](const State& state) { return state.size; }),
                        known<std::int64_t>(std::to_string(size), [size](const State&) { return size; }), 2);
      }
      case 8:
        return compare_option();
      case 9:
        return compare_text();
      case 10:
        return compare_boolean();
      case 11:
        return compare_share();
      default:
        return compare_items();
    }
  }

  Truth compare_phase() {
    const std::size_t phase = at(3);
    const auto left = known<int>("$.phase", [](const State& state) { return state.phase; });
    const auto other = known<int>("$.other", [](const State& state) { return state.other; });
    if (below(4) == 0) return compared(left, other, 2);
    return compared(below(2) == 0 ? left : other,
                    known<int>(phases[phase], [phase](const State&) { return static_cast<int>(phase); }), 2);
  }

  Truth compare_option() {
    using Option = std::optional<std::int64_t>;
    const auto some = known<Option>("$.some", [](const State& state) { return state.some; });
    const auto more = known<Option>("$.more", [](const State& state) { return state.more; });
    const std::int64_t constant = below(3);
    switch (below(7)) {
      case 0:
        return known<bool>("$.some.is_some()", [](const State& state) { return state.some.has_value(); });
      case 1:
        return known<bool>("$.some.is_none()", [](const State& state) { return !state.some.has_value(); });
      case 2:
        return compared(below(2) == 0 ? some : more, known<Option>("None", [](const State&) { return Option(); }), 2);
      case 3:
        return compared(some, more, 2);
      case 4: {
        const int phase = below(3);
        return compared(known<std::optional<int>>("$.last", [](const State& state) { return state.last; }),
                        known<std::optional<int>>(fmt::format("Some({})", phases[static_cast<std::size_t>(phase)]),
                                                  [phase](const State&) { return std::optional(phase); }),
                        2);
      }
      case 5:
        return compared(more, known<Option>("Some($.a)", [](const State& state) { return Option(state.a); }), 2);
      default:
        return compared(
            below(2) == 0 ? some : more,
            known<Option>(fmt::format("Some({})", constant), [constant](const State&) { return Option(constant); }), 2);
    }
  }

  Truth compare_text() {
    const auto text = known<std::string>("$.text", [](const State& state) { return state.text; });
    const auto name = known<std::string>("$.name", [](const State& state) { return state.name; });
    const std::string constant = texts[at(3)];
    const std::int64_t length = below(3);
    switch (below(5)) {
      case 0:
        return known<bool>("$.text.is_empty()", [](const State& state) { return state.text.empty(); });
      case 1:
        return compared(text, name);
      case 2:
        return compared(
            known<std::int64_t>("$.text.len()",
                                [](const State& state) { return static_cast<std::int64_t>(state.text.size()); }),
            known<std::int64_t>(std::to_string(length), [length](const State&) { return length; }));
      default:
        return compared(below(2) == 0 ? text : name, known<std::string>(fmt::format("\"{}\"", constant),
                                                                        [constant](const State&) { return constant; }));
    }
  }

  Truth compare_boolean() {
    const auto yes = known<bool>("$.yes", [](const State& state) { return state.yes; });
    const auto no = known<bool>("$.no", [](const State& state) { return state.no; });
    if (below(3) == 0) return yes;
    if (below(2) == 0) return compared(yes, no, 2);
    return compared(no, known<bool>("true", [](const State&) { return true; }), 2);
  }

  Truth compare_share() {
    const auto share = known<double>("$.share", [](const State& state) { return state.share; });
    const auto rate = known<double>("$.rate", [](const State& state) { return state.rate; });
    if (below(2) == 0) return compared(share, rate);
    const double constant = std::array{0.0, 0.5, 1.0}[at(3)];
    return compared(below(2) == 0 ? share : rate,
                    known<double>(fmt::format("{:.1f}", constant), [constant](const State&) { return constant; }));
  }

  Truth compare_items() {
    const std::int64_t length = below(3);
    const auto count = known<std::int64_t>(
        "$.items.len()", [](const State& state) { return static_cast<std::int64_t>(state.items.size()); });
    if (below(3) == 0) {
      return known<bool>("$.items.is_empty()", [](const State& state) { return state.items.empty(); });
    }
    if (below(2) == 0) return known<bool>("$.items != []", [](const State& state) { return !state.items.empty(); });
    return compared(count, known<std::int64_t>(std::to_string(length), [length](const State&) { return length; }));
  }

  std::mt19937 random_;
};

std::string about(std::string text, const std::string& subject) {
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at)) text.replace(at, 1, subject);
  return text;
}

/// The verdicts of one program with random conditions; adds the number of those that are not open.
void check_round(std::uint32_t seed, std::size_t& decided) {
  constexpr std::size_t action_count = 20;
  constexpr std::size_t state_count = 3'000;
  Generator generator(seed);
  std::vector<Truth> given, wanted;
  std::string text = declarations;
  std::string calls;
  for (std::size_t at = 0; at < action_count; ++at) {
    given.push_back(generator.condition(3));
    wanted.push_back(generator.condition(2));
    text += fmt::format("fn act{}(state: State) -> State\n    ensures {}\n    requires {}\n{{ state }}\n", at,
                        about(given.back().text, "result"), about(wanted.back().text, "state"));
    calls += fmt::format("act{}(_), ", at);
  }
  State start = generator.state();
  while (std::isnan(start.share) || std::isnan(start.rate)) start = generator.state();
  text += fmt::format("fn main(ctx: Context) -> State {{ pursue |state| state.a == 99 from {} {{ {} }} }}",
                      Generator::literal(start), calls);
  test::OneFile file(text);
  Checked checked = check("program.tn", file, Strictness::Relaxed);
  for (const auto& diagnostic : checked.diagnostics.all()) {
    ASSERT_NE(diagnostic.code.severity, diagnostics::Severity::Error) << diagnostic.message << "\n" << text;
  }
  std::vector<State> states;
  for (std::size_t at = 0; at < state_count; ++at) states.push_back(generator.state());
  const std::vector<PursuitPlan> plans = make_plans(checked.program, {});
  for (const PlanEdge& edge : plans.at(0).edges) {
    if (edge.to == action_count) continue;
    const Relation relation = edge.requirements.at(0).relation;
    if (relation == Relation::Open) continue;
    ++decided;
    const Truth& second = wanted[edge.to];
    const auto is_right = [&](const State& state) {
      return second.value(state).value_or(false) == (relation == Relation::Entails);
    };
    if (edge.from == 0) {
      EXPECT_TRUE(is_right(start)) << Generator::literal(start) << "\n" << second.text;
      continue;
    }
    const Truth& first = given[edge.from - 1];
    for (const State& state : states) {
      if (!first.value(state).value_or(false) || is_right(state)) continue;
      ADD_FAILURE() << "seed " << seed << ": `" << first.text << "` " << relation_name(relation) << " `" << second.text
                    << "`, but not in " << Generator::literal(state);
      break;
    }
  }
}

TEST(RandomConditions, VerdictsAreTrueInEveryState) {
  std::size_t decided = 0;
  for (std::uint32_t seed = 0; seed < 12; ++seed) check_round(seed, decided);
  EXPECT_GT(decided, 240U) << "most pairs have nothing in common, but some must be decided";
}

}  // namespace
}  // namespace tenon::types
