// Measures lexing, parsing, checking and formatting in lines per second, on one program of about 100,000 lines, and
// checking of programs with one wide `match`, or with very many parts of another kind; and what the proofs of trust
// add.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/frontend/proofs.h"
#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/format.h"
#include "syntax/lexer.h"
#include "syntax/parse.h"
#include "tests/support/one_file.h"
#include "types/check.h"

namespace {

using namespace tenon;

constexpr std::size_t lines_wanted = 100'000;
constexpr int rounds = 7;

/// One of many similar parts of the program: a typical mix of declarations and statements.
std::string section(std::size_t number) {
  const std::string id = std::to_string(number);
  return "/// A customer as the shop's system knows them.\n"
         "struct Customer" +
         id +
         " {\n"
         "    name: String,\n"
         "    value: i32 in 0..=50_000,\n"
         "    tags: List<String>,\n"
         "}\n"
         "\n"
         "enum Mood" +
         id +
         " { Good, Bad(String) }\n"
         "\n"
         "type Intent" +
         id +
         " = \"billing\" | \"technical\" | \"other\"\n"
         "\n"
         "/// Which kind of request it is.\n"
         "fn classify" +
         id + "(ctx: Context, message: String) -> Intent" + id +
         " {\n"
         "    \"Which kind of request is this?\"!\n"
         "    message!\n"
         "}\n"
         "\n"
         "fn total" +
         id + "(customers: List<Customer" + id +
         ">, limit: i32) -> i32 {\n"
         "    let sum = 0\n"
         "    for customer in customers {\n"
         "        if customer.value > limit && customer.tags.len() > 0 {\n"
         "            sum = sum + customer.value * 2 - 1\n"
         "        } else {\n"
         "            continue\n"
         "        }\n"
         "    }\n"
         "    sum\n"
         "}\n"
         "\n"
         "fn describe" +
         id + "(mood: Mood" + id +
         ", name: String) -> String {\n"
         "    // What a person would say of it.\n"
         "    match mood {\n"
         "        Mood" +
         id +
         "::Good => \"{{ name }} is well\",\n"
         "        Mood" +
         id +
         "::Bad(reason) => \"{{ name }} is not well: {{ reason }}\",\n"
         "    }\n"
         "}\n"
         "\n"
         "fn support" +
         id +
         "(ctx: Context, message: String) -> String {\n"
         "    \"You are the support desk.\"!\n"
         "    message!\n"
         "    let names = [\"ann\", \"bob\"]\n"
         "    let sizes = names.map(|name| name.len()).filter(|size| size > 2)\n"
         "    let intent = classify" +
         id +
         "(ctx, _)\n"
         "    let answer = match intent {\n"
         "        \"billing\" => \"Send the bill\",\n"
         "        _ => \"Look it up: {{ sizes.len() }}\",\n"
         "    }\n"
         "    return answer\n"
         "}\n"
         "\n";
}

constexpr std::size_t arms = 20'000;

/// A function that matches a value of `type` with one arm for each pattern.
std::string wide_match(const std::string& type, const std::function<std::string(std::string)>& pattern, bool is_open) {
  std::string text = "fn pick(value: " + type + ") -> i32 {\n    match value {\n";
  for (std::size_t arm = 0; arm < arms; ++arm) {
    const std::string number = std::to_string(arm);
    text += "        " + pattern(number) + " => " + number + ",\n";
  }
  return text + (is_open ? "        _ => 0,\n" : "") + "    }\n}\n";
}

struct WideProgram {
  const char* name;
  std::string text;
};

std::vector<WideProgram> wide_matches() {
  std::string declared = "enum Wide {\n";
  for (std::size_t arm = 0; arm < arms; ++arm) declared += "    Case" + std::to_string(arm) + "(i32)\n";
  return {
      {"match_enum", declared + "}\n" +
                         wide_match(
                             "Wide", [](auto id) { return "Wide::Case" + id + "(_)"; }, false)},
      {"match_i32", wide_match(
                        "i32", [](auto id) { return id; }, true)},
      {"match_ranges", wide_match(
                           "i32", [](auto id) { return id + "..=1_000_000"; }, true)},
      {"match_text", wide_match(
                         "String", [](auto id) { return "\"text " + id + "\""; }, true)},
      {"match_tuple", wide_match(
                          "(i32, String)", [](auto id) { return "(" + id + ", \"" + id + "\")"; }, true)},
      // Wildcards in both columns, which is the hard case.
      {"match_mixed",
       wide_match(
           "(i32, i32)", [](auto id) { return id.back() % 2 == 0 ? "(" + id + ", _)" : "(_, " + id + ")"; }, true)},
  };
}

/// `begin`, `count` lines, `end`.
std::string wide(const std::string& begin, std::size_t count, const std::function<std::string(std::string)>& line,
                 const std::string& end) {
  std::string text = begin;
  for (std::size_t number = 0; number < count; ++number) text += line(std::to_string(number)) + "\n";
  return text + end;
}

constexpr std::size_t parts = 40'000;

/// Programs with very many parts of one kind.
std::vector<WideProgram> wide_programs() {
  const std::string fields = wide(
      "struct S {\n", parts, [](auto id) { return "f" + id + ": i32"; }, "}\n");
  const std::string declared = wide(
      "fn f(\n", parts, [](auto id) { return "p" + id + ": i32,"; }, ") -> i32 { 1 }\n");
  return {
      {"tests", wide(
                    "", parts, [](auto id) { return "test \"t" + id + "\" { assert 1 == 1 }"; }, "")},
      {"literal", fields + wide(
                               "fn f() -> S { S {\n", parts, [](auto id) { return "f" + id + ": 1,"; }, "} }\n")},
      {"pattern", fields + wide(
                               "fn f(s: S) -> i32 { match s { S {\n", parts, [](auto id) { return "f" + id + ": _,"; },
                               "} => 1 } }\n")},
      {"parameters", declared + wide(
                                    "fn g() -> i32 { f(\n", parts, [](auto) { return std::string("1,"); }, ") }\n")},
      {"locals",
       wide(
           "fn f() -> i32 {\nlet last = 1\n", parts, [](auto id) { return "let x" + id + " = last + 1"; }, "last }\n")},
      {"injections",
       wide(
           "fn f(ctx: Context) -> i32 {\n", parts, [](auto id) { return "\"line " + id + "\"!"; }, "}\n")},
      {"ranges", wide(
                     "", parts, [](auto id) { return "type T" + id + " = i32 in 0..=" + id; }, "")},
      {"unions", wide(
                     "", parts, [](auto id) { return "type T" + id + " = \"a" + id + "\" | \"b\""; }, "")},
      {"branches",
       wide(
           "fn f() -> i32 {\nlet p = parallel {\n", parts, [](auto id) { return "b" + id + " = 1"; }, "}\np.b0 }\n")},
  };
}

/// A `pursue` of as many actions as it may have. `contract`: the lines of an action's contract, by its number.
std::string pursuit(const std::string& goal, const std::function<std::string(std::size_t)>& contract) {
  constexpr std::size_t actions = 256;
  std::string text = "struct State { n: i32, m: i32 }\n";
  std::string all;
  for (std::size_t number = 0; number < actions; ++number) {
    const std::string name = "act_" + std::to_string(number);
    text += "fn " + name + "(s: State) -> State\n" + contract(number) + "{\n    s\n}\n";
    all += "        " + name + "(_)\n";
  }
  return text + "fn main(ctx: Context) -> State {\n    pursue " + goal + " from State { n: 0, m: 0 } {\n" + all +
         "    }\n}\n";
}

/// `count` lines of a contract.
std::string contract_of(std::size_t count, const std::function<std::string(std::size_t)>& line) {
  std::string text;
  for (std::size_t number = 0; number < count; ++number) text += "    " + line(number) + "\n";
  return text;
}

/// Each `pursue` compares what its actions ensure with what they require.
std::vector<WideProgram> pursuits() {
  constexpr std::size_t conditions = 3'000;
  const auto digits = [](std::size_t number) { return std::to_string(number); };
  std::string fields = "struct Wide {\n";
  for (std::size_t number = 0; number <= conditions; ++number) fields += "    f" + digits(number) + ": i32\n";
  const auto ordered = [&](const std::string& kind, const std::string& of) {
    return contract_of(conditions, [&](std::size_t number) {
      return kind + " " + of + ".f" + digits(number) + " < " + of + ".f" + digits(number + 1);
    });
  };
  return {
      {"pursue_actions", pursuit("|s| s.n > 9",
                                 [&](std::size_t number) {
                                   return "    requires s.n != " + digits(number + 1) + "\n    ensures result.n >= 0\n";
                                 })},
      {"pursue_texts", pursuit("\"the end\"",
                               [&](std::size_t number) {
                                 return "    requires \"needs " + digits(number / 2) + "\"\n    ensures \"needs " +
                                        digits(number) + "\"\n";
                               })},
      // Half of the actions can never be taken, which is found out for the values of all others.
      {"pursue_dead", pursuit("|s| s.n > 9",
                              [&](std::size_t number) {
                                return std::string(number % 2 == 0 ? "    requires s.n < 5\n"
                                                                   : "    requires s.n > 5\n") +
                                       "    ensures result.n <= 5\n    ensures result.m == " + digits(number) + "\n";
                              })},
      {"pursue_contracts",
       pursuit("|s| s.n > 9",
               [&](std::size_t number) {
                 return contract_of(10,
                                    [&](std::size_t at) {
                                      return "requires s.n > " + digits(number + at) + " || s.m < " + digits(at + 1);
                                    }) +
                        contract_of(10, [&](std::size_t at) { return "ensures result.n > " + digits(number + at); });
               })},
      {"pursue_ordered",
       fields + "}\nfn sort(s: Wide) -> Wide\n" + ordered("requires", "s") + ordered("ensures", "result") +
           "{ s }\nfn main(ctx: Context, s: Wide) -> Wide {\n    pursue |s| s.f0 > 9 from s { sort(_) }\n}\n"},
  };
}

double best_seconds(const std::function<void()>& work) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::string text;
  std::size_t lines = 0;
  for (std::size_t number = 0; lines < lines_wanted; ++number) {
    const std::string next = section(number);
    lines += static_cast<std::size_t>(std::count(next.begin(), next.end(), '\n'));
    text += next;
  }
  const source::SourceFile file({0}, "program.tn", text);
  diagnostics::Diagnostics problems;
  const syntax::SyntaxTree tree = syntax::parse(file, problems);
  if (problems.has_errors()) {
    std::fprintf(stderr, "the program has errors: %s\n", problems.all().front().message.c_str());
    return 1;
  }
  nlohmann::ordered_json results = {
      {"lines", lines}, {"bytes", text.size()}, {"lines_per_second", nlohmann::json::object()}};
  const auto measure = [&](const char* name, const std::function<void()>& work) {
    const double rate = static_cast<double>(lines) / best_seconds(work);
    std::printf("%-12s %12.0f lines/s\n", name, rate);
    results["lines_per_second"][name] = static_cast<std::int64_t>(rate);
  };
  measure("lex", [&] {
    diagnostics::Diagnostics found;
    static_cast<void>(syntax::lex(file, found));
  });
  measure("parse", [&] {
    diagnostics::Diagnostics found;
    static_cast<void>(syntax::parse(file, found));
  });
  test::OneFile files(text);
  measure("check", [&] {  // parsing included
    if (!types::check("program.tn", files, types::Strictness::Relaxed).diagnostics.has_errors()) return;
    std::fprintf(stderr, "the checker refuses the program\n");
    std::exit(1);
  });
  types::CheckOptions options{.keeps_bodies = true};
  const types::Checked previous = types::check("program.tn", files, options);
  options.previous = &previous;
  std::string edited = text;
  edited.replace(edited.find("let sum = 0"), 11, "let sum = 1");
  test::OneFile edited_files(edited);
  measure("recheck", [&] {  // after an edit of one body, parsing included
    if (types::check("program.tn", edited_files, options).checked_bodies.size() == 1) return;
    std::fprintf(stderr, "the checker does not reuse the earlier check\n");
    std::exit(1);
  });
  measure("format", [&] { static_cast<void>(syntax::format(tree)); });
  std::vector<WideProgram> all = wide_matches();
  for (WideProgram& program : wide_programs()) all.push_back(std::move(program));
  for (WideProgram& program : pursuits()) all.push_back(std::move(program));
  for (const WideProgram& wide : all) {
    test::OneFile wide_file(wide.text);
    lines = static_cast<std::size_t>(std::count(wide.text.begin(), wide.text.end(), '\n'));
    measure(wide.name, [&] {
      if (!types::check("program.tn", wide_file, types::Strictness::Relaxed).diagnostics.has_errors()) return;
      std::fprintf(stderr, "the checker refuses the program of %s\n", wide.name);
      std::exit(1);
    });
  }
  results["proofs"] = bench::measure_proofs();
  if (argc > 1) std::ofstream(argv[1]) << results.dump(2) << '\n';
  return 0;
}
