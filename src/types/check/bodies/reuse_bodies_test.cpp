// A check that reuses the bodies of an earlier one has the same result as a full check, and checks no more than it
// must.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "diagnostics/render.h"
#include "syntax/parse.h"
#include "tests/support/folders.h"
#include "tests/support/read_file.h"
#include "tests/support/sanitized.h"
#include "types/check.h"

namespace tenon::types {
namespace {

/// Some files in place of those on disk.
class ChangedFiles final : public FileSystem {
 public:
  std::map<std::string, std::string> texts;
  Result<std::string, FileError> read_file(const std::string& path, std::size_t bytes_max) override {
    const auto found = texts.find(path);
    return found == texts.end() ? RealFileSystem().read_file(path, bytes_max) : found->second;
  }
};

void write(std::string& out, const Module& module) {
  for (const NodeFacts& facts : module.facts) {
    out += fmt::format("{} {} {} {} {}", facts.type.index, facts.narrowed_to.index, static_cast<int>(facts.target.kind),
                       facts.target.index, facts.target.detail);
    for (const TypeId argument : facts.type_arguments) out += fmt::format(" <{}>", argument.index);
    out += '\n';
  }
  for (const auto& [node, pursuit] : std::map(module.pursuits.begin(), module.pursuits.end())) {
    out += fmt::format("pursue {} {} {}", node, pursuit.type.index, pursuit.may_start_there);
    for (std::size_t at = 0; at < pursuit.actions.size(); ++at) {
      out += fmt::format(" {} {} {}", pursuit.actions[at].index, pursuit.names[at], bool{pursuit.may_reach[at]});
      for (const bool takes : pursuit.takes[at]) out += takes ? '+' : '-';
    }
    out += '\n';
  }
  for (const auto& [node, strategy] : std::map(module.strategies.begin(), module.strategies.end())) {
    out += fmt::format("strategy {} {} {}\n", node, static_cast<int>(strategy.kind), strategy.count);
  }
}

/// All that a check has found, as text.
std::string describe(const Checked& checked) {
  const CheckedProgram& program = checked.program;
  std::string out;
  for (const diagnostics::Diagnostic& diagnostic : checked.diagnostics.all()) {
    out += diagnostics::render_json(diagnostic, checked.files()) + "\n";
  }
  out += fmt::format("{} errors, {} more\n", checked.diagnostics.error_count(), checked.diagnostics.dropped_count());
  for (std::uint32_t at = 0; at < program.types.size(); ++at) {
    out += fmt::format("type {} {}\n", at, program.types.describe(TypeId{at}));
  }
  for (const Module& module : program.modules) write(out, module);
  for (const Local& local : program.locals) {
    out += fmt::format("local {} {} {} {}:{} {}\n", local.name, local.type.index, local.function.index,
                       local.span.offset, local.span.length, local.is_agent_state);
  }
  for (const FunctionDeclaration& function : program.functions) {
    out += fmt::format("{} {} {} {} {}", function.name, function.is_completed, static_cast<int>(function.strategy.kind),
                       function.strategy.count, function.has_faulty_strategy);
    for (const Contract& contract : function.contracts) {
      out += fmt::format(" contract {} {} {} {} {}", static_cast<int>(contract.kind), contract.expression.index,
                         contract.words.index, contract.result.index, contract.is_judged);
    }
    out += '\n';
  }
  return out + fmt::format("{}\n", program.tool_result.index);
}

Checked check_all(const std::string& path, ChangedFiles& files) {
  return check(path, files, CheckOptions{.keeps_bodies = true});
}

Checked check_again(const std::string& path, ChangedFiles& files, const Checked& previous) {
  return check(path, files, CheckOptions{.keeps_bodies = true, .previous = &previous});
}

std::vector<std::string> checked_names(const Checked& checked) {
  std::vector<std::string> names;
  for (const FunctionId id : checked.checked_bodies) names.push_back(checked.program.functions[id.index].name);
  std::sort(names.begin(), names.end());
  return names;
}

/// The names of the bodies that are checked again after `from` was replaced by `to`.
std::vector<std::string> checked_after(const std::string& text, const std::string& from, const std::string& to) {
  ChangedFiles files;
  files.texts["program.tn"] = text;
  const Checked first = check_all("program.tn", files);
  EXPECT_FALSE(first.diagnostics.has_errors()) << describe(first);
  std::string& changed = files.texts["program.tn"];
  changed.replace(changed.find(from), from.size(), to);
  const Checked again = check_again("program.tn", files, first);
  EXPECT_EQ(describe(again), describe(check_all("program.tn", files)));
  return checked_names(again);
}

using Strings = std::vector<std::string>;

const std::string shop = R"(
struct Address { city: String }
struct Customer { name: String, address: Address }

/// What the customer pays.
fn price(amount: i32) -> i32 { amount * 2 }
fn total(amounts: List<i32>) -> i32 {
    let sum = 0
    for amount in amounts { sum = sum + price(amount) }
    sum
}
fn city_of(customer: Customer) -> String { customer.address.city }
fn greeting(customer: Customer) -> String { "{{ customer.name }} from {{ city_of(customer) }}" }
fn unrelated(words: List<String>) -> Option<String> { words.first() }

fn main() {
    let label = greeting(Customer { name: "Ada", address: Address { city: "London" } })
    print_line(label)
}
fn print_line(text: String) { let shown = text }
)";

TEST(BodyReuse, AnUnchangedProgramIsNotCheckedAgain) {
  EXPECT_EQ(checked_after(shop, "fn price", "fn price"), Strings{});
}

TEST(BodyReuse, AnEditOfABodyChecksThisBodyOnly) {
  EXPECT_EQ(checked_after(shop, "amount * 2", "amount * 3 + 1"), Strings{"price"});
  EXPECT_EQ(checked_after(shop, "amount * 2", "let x = [1.5]\n amount"), Strings{"price"});
  EXPECT_EQ(checked_after(shop, "let sum = 0", "let sum = 0  // in cents"), Strings{"total"});
}

TEST(BodyReuse, AnEditBetweenBodiesChecksNone) {
  EXPECT_EQ(checked_after(shop, "\n\nfn main", "\n\n// The entry.\n\n\nfn main"), Strings{});
}

TEST(BodyReuse, AnEditOfASignatureChecksItsUsers) {
  EXPECT_EQ(checked_after(shop, "fn price(amount: i32) -> i32 {", "fn price(amount: i32) -> i32 in 0..=9 {"),
            (Strings{"price", "total"}));
  EXPECT_EQ(checked_after(shop, "fn print_line(text: String)", "fn print_line(text: String, end: String)"),
            (Strings{"main", "print_line"}));
}

TEST(BodyReuse, AnEditOfATypeChecksAllThatReachIt) {
  EXPECT_EQ(checked_after(shop, "struct Address { city: String }", "struct Address { city: String, street: String }"),
            (Strings{"city_of", "greeting", "main"}));
}

TEST(BodyReuse, ANewDeclarationChecksTheBodiesThatMentionItsName) {
  EXPECT_EQ(
      checked_after(shop, "fn unrelated", "fn first(words: List<String>) -> Option<String> { None }\nfn unrelated"),
      (Strings{"first", "unrelated"}));
  EXPECT_EQ(checked_after(shop, "struct Address", "enum Mood { Good, Bad }\nstruct Address"), Strings{});
}

TEST(BodyReuse, BodiesWithDiagnosticsMoveWithThem) {
  ChangedFiles files;
  std::string& text = files.texts["program.tn"];
  text = "fn a() -> i32 { 1 }\nfn b() -> String {\n    let x: String = 2\n    y\n}\n";
  const Checked first = check_all("program.tn", files);
  ASSERT_EQ(first.diagnostics.error_count(), 2U);
  text.replace(text.find("{ 1 }"), 5, "{\n    let wide = 1\n    wide\n}");
  const Checked again = check_again("program.tn", files, first);
  EXPECT_EQ(checked_names(again), Strings{"a"});
  EXPECT_EQ(describe(again), describe(check_all("program.tn", files)));
  // Another name could be the one that is suggested for `y`.
  text += "fn yy() {}\n";
  const Checked suggested = check_again("program.tn", files, again);
  EXPECT_EQ(checked_names(suggested), (Strings{"b", "yy"}));
  EXPECT_EQ(describe(suggested), describe(check_all("program.tn", files)));
}

TEST(BodyReuse, ANewCaseMayBeTheOneThatIsSuggested) {
  ChangedFiles files;
  std::string& text = files.texts["program.tn"];
  text = "enum Mood { Good }\nfn a() -> i32 {\n    let mood = Bad\n    1\n}\n";
  const Checked first = check_all("program.tn", files);
  ASSERT_EQ(first.diagnostics.error_count(), 1U);
  text.replace(text.find("Good"), 4, "Good, Bad");
  const Checked again = check_again("program.tn", files, first);
  EXPECT_EQ(checked_names(again), Strings{"a"});
  EXPECT_EQ(describe(again), describe(check_all("program.tn", files)));
}

std::vector<std::string> programs_of(std::initializer_list<const char*> folders) {
  std::vector<std::string> paths;
  for (const char* folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_folder() / folder)) {
      if (entry.path().extension() == ".tn") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// A random edit, most of which keep the program free of syntax errors.
void edit(std::string& text, const std::string& path, std::mt19937& random) {
  const source::SourceFile file({0}, path, text);
  diagnostics::Diagnostics ignored;
  const syntax::SyntaxTree tree = syntax::parse(file, ignored);
  const auto pick = [&](std::size_t size) { return random() % std::max<std::size_t>(size, 1); };
  const syntax::Token& token = tree.tokens[pick(tree.tokens.size())];
  const syntax::Token& other = tree.tokens[pick(tree.tokens.size())];
  const std::string word = text.substr(other.offset, other.length);
  switch (random() % 8) {
    case 0:  // a token is replaced by another one, or removed
      text.replace(token.offset, token.length, other.kind == token.kind ? word : "");
      break;
    case 1: {  // a declaration is removed, or repeated
      const std::vector<syntax::NodeId> items = tree.children(tree.root);
      if (items.empty()) break;
      const source::Span span = tree.span(items[pick(items.size())]);
      text.insert(span.offset, random() % 2 == 0 ? std::string() : text.substr(span.offset, span.length) + "\n");
      break;
    }
    case 2:
      text.insert(0, "fn added_" + std::to_string(random() % 3) + "(x: List<i32>) -> i32 { x.len() }\n");
      break;
    case 3:
      text += "\nstruct Added { value: Map<f64> }\n";
      break;
    case 4:  // between tokens
      text.insert(token.offset, " ");
      break;
    default:  // a name becomes another one
      if (token.kind == syntax::TokenKind::Identifier && other.kind == token.kind) {
        text.replace(token.offset, token.length, word);
      } else {
        text.insert(token.offset, "\n");
      }
      break;
  }
}

TEST(BodyReuse, RandomEditsGiveTheResultOfAFullCheck) {
  constexpr unsigned edits = test::cases(12);
  const char* const seed = std::getenv("TENON_TEST_SEED");
  std::mt19937 random(seed == nullptr ? 1U : static_cast<unsigned>(std::stoul(seed)));
  std::size_t checked = 0;
  std::size_t reused = 0;
  for (const std::string& path : programs_of({"examples", "tests/programs", "tests/journals"})) {
    ChangedFiles files;
    const std::string original = test::read_file(path);
    files.texts[path] = original;
    Checked previous = check_all(path, files);
    for (unsigned at = 0; at < edits; ++at) {
      if (at % 4 == 3) files.texts[path] = original;
      edit(files.texts[path], path, random);
      Checked again = check_again(path, files, previous);
      const Checked full = check_all(path, files);
      ASSERT_EQ(describe(again), describe(full)) << path << " after edit " << at << ":\n" << files.texts[path];
      checked += again.checked_bodies.size();
      reused += full.checked_bodies.size() - again.checked_bodies.size();
      previous = std::move(again);
    }
  }
  EXPECT_GT(reused, 2 * checked);
}

}  // namespace
}  // namespace tenon::types
