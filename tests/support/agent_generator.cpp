#include "tests/support/agent_generator.h"

#include "syntax/parse.h"

namespace tenon::test {

using namespace graph;

std::string AgentGenerator::generate() {
  for (std::size_t count = 1 + below(2); count > 0; --count) {
    line("agent A" + std::to_string(count) + " {");
    ++depth_;
    if (chance(2)) line("state { a: String = \"\", done: Boolean = false }");
    comment();
    if (chance(3)) line("next_turn smart");
    for (const char* section : {"pre_turn", "post_turn"}) {
      if (!chance(4)) continue;
      line(std::string(section) + " {");
      ++depth_;
      sequence(2);
      --depth_;
      line("}");
    }
    sequence(5);
    if (chance(2)) line("fn helper() -> i32 { 1 }");
    comment();
    --depth_;
    line("}");
  }
  return std::move(out_);
}

void AgentGenerator::line(const std::string& text) {
  out_ += std::string(4 * depth_ + (chance(12) ? 2 : 0), ' ') + text;
  if (chance(8)) out_ += " // t" + std::to_string(count_++);
  out_ += '\n';
  if (chance(8)) out_ += chance(2) ? "\n" : "\n\n";
}

void AgentGenerator::comment() {
  if (chance(5)) line("// c" + std::to_string(count_++));
}

void AgentGenerator::sequence(std::size_t count_max) {
  std::vector<std::string> names;
  for (std::size_t count = 1 + below(count_max); count > 0; --count) names.push_back("b" + std::to_string(count_++));
  for (const std::string& name : names) {
    comment();
    if (chance(4)) line("/// Does " + name + ".");
    block(name, names);
  }
}

void AgentGenerator::edges(const std::string& kind, const std::vector<std::string>& names) {
  const auto target = [&] { return names[below(names.size())]; };
  if (kind == "route") {
    if (chance(2)) line("when state.done && " + std::to_string(count_++) + " > 1 -> " + target());
    if (chance(2)) line("to " + target() + ": \"questions {{ state.a }}\"");
    if (chance(3))
      line("on state.a { \"x\" -> " + target() + ", \"y\" | \"z\" -> " + target() + ", else -> " + target() + " }");
    if (chance(4)) {
      line("on state.done {");
      ++depth_;
      line("true -> " + target());
      line("else -> " + target());
      --depth_;
      line("}");
    }
    if (chance(2)) line("else -> " + target());
  }
  if (kind == "core_loop" && chance(2)) line("called refund -> " + target());
  if (chance(2)) line("-> " + target());
}

void AgentGenerator::block(const std::string& name, const std::vector<std::string>& names) {
  static constexpr const char* kinds[] = {"code", "set", "request", "route", "core_loop", "for_each", "parallel"};
  const std::string kind = kinds[below(depth_ > 3 ? 5 : 7)];
  if (chance(6)) return line("block " + name + ": " + kind + " {}");
  if (kind == "request" && chance(3)) {
    return line("block " + name + ": request { prompt: \"p {{ state.a }}\", limit: 2 -> " + names.front() + " }");
  }
  line("block " + name + ": " + kind + " {");
  ++depth_;
  comment();
  if (kind == "code" || kind == "set") {
    if (chance(2)) line("state.a = \"x\"");
    if (chance(3)) line("let s = \"\"\"\n      one\n      \"\"\"");
  } else {
    if (kind == "for_each") line("item x: String in scratchpad.xs");
    if (chance(2)) line("prompt: \"\"\"\n  Help {{ state.a }}.\n  \"\"\"");
    if (chance(3)) line(std::string("limit: 25") + (chance(2) ? "," : ""));
  }
  if (kind == "for_each") sequence(2);
  if (kind == "parallel") {
    for (const char* branch : {"left", "right"}) {
      line(std::string("branch ") + branch + " {");
      ++depth_;
      sequence(2);
      --depth_;
      line("}");
    }
  }
  edges(kind, names);
  comment();
  --depth_;
  line("}");
}

namespace {

/// An edit of what is not a block; nothing if the agent has nothing of that kind.
std::optional<Edit> random_agent_edit(const Graph& graph, const Agent& agent, const std::string& fresh,
                                      std::mt19937& random) {
  const auto below = [&](std::size_t end) { return random() % end; };
  const Section section = below(2) == 0 ? Section::State : Section::Scratchpad;
  const std::vector<Setting>& fields = section == Section::State ? agent.state : agent.scratchpad;
  const std::string field = fields.empty() ? "" : fields[below(fields.size())].name;
  const std::string documentation = below(2) == 0 ? "" : "New.\n\nAnd more.";
  const std::optional<std::string> owner = below(2) == 0 ? std::optional(agent.name) : std::nullopt;
  const std::vector<Declaration>& declared = owner ? agent.functions : graph.declarations;
  const std::string declaration = declared.empty() ? "" : declared[below(declared.size())].name;
  switch (below(10)) {
    case 0:
      return AddField{agent.name, section, {fresh, "List<String>", "[]", documentation}, std::nullopt};
    case 1:
      return SetField{agent.name, section, field, "String?",
                      below(2) == 0 ? std::nullopt : std::optional<std::string>("None")};
    case 2:
      return RenameField{agent.name, section, field, fresh};
    case 3:
      return RemoveField{agent.name, section, field};
    case 4:
      return SetInstructions{agent.name, below(3) == 0   ? ""
                                         : below(2) == 0 ? "\"brief\"!"
                                                         : "\"one\"!\nif x {\n    \"two\"!\n}"};
    case 5:
      return SetDocumentation{agent.name, std::nullopt, std::nullopt, "", std::nullopt, documentation};
    case 6:
      return SetDocumentation{owner, std::nullopt, std::nullopt, "", declaration, documentation};
    case 7:
      return AddDeclaration{owner, "/// Adds.\nfn " + fresh + "(a: i32) -> i32 {\n    a + 1\n}", std::nullopt};
    case 8:
      return RenameDeclaration{owner, declaration, fresh};
    default:
      // An agent has to stay.
      if (!owner && (graph.agents.size() < 2 || declaration != agent.name)) return std::nullopt;
      return RemoveDeclaration{owner, declaration};
  }
}

}  // namespace

Edit random_edit(const std::string& text, std::mt19937& random) {
  const source::SourceFile file({0}, "", text);
  diagnostics::Diagnostics diagnostics;
  const Graph graph = make_graph(syntax::parse(file, diagnostics));
  const auto below = [&](std::size_t end) { return random() % end; };
  const Agent& agent = graph.agents[below(graph.agents.size())];
  std::vector<const Block*> blocks;
  std::vector<std::string> sequences = {"", "pre_turn", "post_turn"};
  const auto gather = [&](const auto& self, const Sequence& sequence) -> void {
    for (const Block& block : sequence.blocks) {
      blocks.push_back(&block);
      for (const Sequence& nested : block.nested) {
        sequences.push_back(nested.path);
        self(self, nested);
      }
    }
  };
  for (const Sequence& sequence : agent.sequences) gather(gather, sequence);
  const std::string fresh = "n" + std::to_string(random() % 1'000'000);
  if (below(3) == 0) {
    if (auto edit = random_agent_edit(graph, agent, fresh, random)) return std::move(*edit);
  }
  const std::string place = sequences[below(sequences.size())];
  if (blocks.empty() || below(6) == 0) {
    AddBlock add{agent.name, {place, std::nullopt}, fresh, below(2) == 0 ? "code" : "request", "", {}, {}, "", {}};
    if (add.kind == "code") add.statements = "let x = 1\nif x > 0 {\n    f(x)\n}";
    if (add.kind == "request") add.options = {{"prompt", "", "\"hello\""}, {"limit", "", "3"}};
    if (below(2) == 0) add.documentation = "New.\n\nAnd more.";
    return add;
  }
  const Block& block = *blocks[below(blocks.size())];
  const Sequence& around = *agent.find_sequence(sequence_of(block.path));
  const std::string beside = around.blocks[below(around.blocks.size())].name;
  const Edge* const edge = block.edges.empty() ? nullptr : &block.edges[below(block.edges.size())];
  switch (below(16)) {
    case 11:
      return AddBranch{agent.name, block.path, fresh};
    case 12:
      if (block.nested.empty()) return SetItem{agent.name, block.path, {fresh, "Order", "state.orders"}};
      return RenameBranch{agent.name, block.path, block.nested.front().name, fresh};
    case 13:
      if (block.nested.empty()) return SetItem{agent.name, block.path, {fresh, "Order", "state.orders"}};
      return RemoveBranch{agent.name, block.path, block.nested.back().name};
    case 14:
      if (edge == nullptr) return SetDocumentation{agent.name, block.path, std::nullopt, "", std::nullopt, "Words."};
      return MoveEdge{agent.name, block.path, {edge->kind, edge->label, edge->on}, edge->target, below(3)};
    case 15:
      return SetDocumentation{agent.name, block.path, std::nullopt, "", std::nullopt, below(2) == 0 ? "" : "Words."};
    case 0:
      return RenameBlock{agent.name, block.path, fresh};
    case 1:
      return DeleteBlock{agent.name, block.path};
    case 2:
      return SetOption{agent.name, block.path, "limit", std::to_string(below(100))};
    case 3:
      return SetOption{agent.name, block.path, below(2) == 0 ? "limit" : "prompt", std::nullopt};
    case 4:
      return Connect{agent.name, block.path, {EdgeKind::Next, "", ""}, beside};
    case 5:
      return Connect{agent.name, block.path, {EdgeKind::When, "state.done == " + fresh, ""}, beside};
    case 6:
      return Connect{agent.name, block.path, {EdgeKind::Case, "\"" + fresh + "\"", "state.a"}, beside};
    case 7:
      if (edge != nullptr) return Disconnect{agent.name, block.path, {edge->kind, edge->label, edge->on}, edge->target};
      return SetStart{agent.name, block.name};
    case 8:
      return MoveBlock{agent.name, block.path, {place, std::nullopt}};
    case 9:
      return SetStatements{agent.name, block.path, below(3) == 0 ? "" : "g()\nh()"};
    default:
      if (edge != nullptr) return Connect{agent.name, block.path, {edge->kind, edge->label, edge->on}, beside};
      return SetNextTurn{agent.name, below(2) == 0 ? std::nullopt : std::optional<std::string>("restart")};
  }
}

}  // namespace tenon::test
