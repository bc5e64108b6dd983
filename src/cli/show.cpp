#include <fmt/format.h>

#include "bytecode/compile.h"
#include "bytecode/disassembler.h"
#include "bytecode/tool_sets.h"

#include "cli/commands.h"
#include "cli/program_file.h"
#include "diagnostics/render.h"
#include "graph/graph_json.h"
#include "graph/pictures.h"
#include "inference/answers/answer_shape.h"
#include "inference/answers/outline.h"
#include "inference/prompting/site_prompts.h"
#include "syntax/format.h"
#include "syntax/parse.h"
#include "syntax/show.h"

namespace tenon::cli {
namespace {

/// Each expression's type, in the order of the source: `3:5-3:9 i32 "n + 1"`.
std::string show_types(const types::Checked& checked) {
  std::string out;
  const types::Module& module = checked.program.modules.front();
  const syntax::SyntaxTree& tree = *module.tree;
  for (std::uint32_t at = 0; at < tree.nodes.size(); ++at) {
    const syntax::NodeId node{at};
    const types::NodeFacts& facts = module.facts_of(node);
    if (facts.type == types::TypeTable::error) continue;
    const source::Span span = tree.span(node);
    const source::Position start = module.file->position(span.offset);
    std::string text(tree.text(node).substr(0, 60));
    for (char& byte : text) {
      if (byte == '\n') byte = ' ';
    }
    out += fmt::format("{}:{} {} {} `{}`\n", start.line, start.column, syntax::name_of(tree.kind(node)),
                       checked.program.types.describe(facts.type), text);
  }
  return out;
}

/// The program without blocks: what is checked and compiled.
std::string show_lowered(const types::Module& module) {
  const source::SourceFile file(source::FileId{0}, module.file->path(),
                                module.written ? module.lowered : std::string(module.file->text()));
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  return diagnostics.has_errors() ? std::string(file.text()) : syntax::format(tree);
}

std::string_view kind_name(bytecode::SiteKind kind) {
  switch (kind) {
    case bytecode::SiteKind::Completion:
      return "completion of";
    case bytecode::SiteKind::Fill:
      return "missing arguments in";
    case bytecode::SiteKind::Select:
      return "select in";
  }
  return "";
}

/// What would be sent at each place where a model is asked. What the context holds is known only in a run.
std::string show_prompts(const bytecode::Program& program, inference::prompting::PromptTemplates templates) {
  const inference::prompting::SitePrompts prompts(program, std::move(templates));
  std::string out;
  for (std::uint32_t index = 0; index < program.sites.size(); ++index) {
    const bytecode::Site& site = program.sites[index];
    out += fmt::format("{}:{}:{}: {} `{}`\n", program.sources[site.place.file].path, site.place.line, site.place.column,
                       kind_name(site.kind), program.functions[site.function].name);
    const std::size_t sets = bytecode::count_sets(site);
    if (sets > 0) {
      out += "(and what the sets of tools hold then, in the same manner; the program's tools stand below)\n";
      if (sets == site.clauses.size()) {
        out += '\n';
        continue;
      }
    }
    const inference::GenerationRequest request = prompts.make_request({index, std::vector<bytecode::ToolIndices>(sets)},
                                                                      "<the context's entries, a line each>", {}, {});
    for (const inference::Message& message : request.messages) {
      out += fmt::format("[{}]\n{}\n", inference::role_name(message.role), message.text);
    }
    out += request.schema ? fmt::format("[schema]\n{}\n\n", request.schema->json_schema) : "[text]\n\n";
  }
  for (const bytecode::Tool& tool : program.tools) {
    out += fmt::format("{}:{}:{}: tool `{}`\n{}", program.sources[tool.place.file].path, tool.place.line,
                       tool.place.column, tool.call.name, tool.call.signature);
    if (!tool.call.documentation.empty()) out += " // " + inference::answers::flatten(tool.call.documentation);
    bytecode::Site arguments;
    arguments.kind = bytecode::SiteKind::Fill;
    arguments.call = tool.call;
    const inference::answers::AnswerShape shape = inference::answers::make_answer_shape(program, arguments);
    out += fmt::format("\n[schema]\n{}\n\n", shape.schema->json_schema);
  }
  return out;
}

/// The graph of the text as it is written; whether the program holds together is `check`'s to say.
int show_graph(const ShowCommand& command, const Environment& environment) {
  auto text = environment.files.read_file(command.file, source::source_bytes_max);
  if (!text) return tell(fmt::format("{}: {}", command.file, text.error().message), environment);
  const source::SourceFile file({0}, command.file, std::move(*text));
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  const source::SourceFile* const files[] = {&file};
  print_diagnostics(diagnostics, files, ShownDiagnostics::All, environment);
  if (diagnostics.has_errors()) return exit_failed;
  const graph::Graph graph = graph::make_graph(tree);
  environment.write_output(command.form == "dot"   ? graph::to_dot(graph)
                           : command.form == "svg" ? graph::to_svg(graph)
                                                   : graph::to_json(graph, tree) + "\n");
  return exit_done;
}

}  // namespace

int show(const ShowCommand& command, const Environment& environment) {
  if (command.as == "graph") return show_graph(command, environment);
  types::Checked checked = types::check(command.file, environment.files, types::Strictness::Relaxed);
  const types::Module& entry = checked.program.modules.front();
  const syntax::SyntaxTree& tree = entry.written ? *entry.written : *entry.tree;
  if (command.as == "lowered") environment.write_output(show_lowered(entry));
  if (command.as == "tokens") environment.write_output(syntax::show_tokens(tree));
  if (command.as == "tree") environment.write_output(syntax::show_tree(tree));
  if (command.as == "types") environment.write_output(show_types(checked));
  const bool needs_program = command.as == "bytecode" || command.as == "prompts";
  bytecode::Program program;
  if (needs_program && !checked.diagnostics.has_errors())
    program = bytecode::compile(checked.program, checked.diagnostics);
  print_diagnostics(checked, ShownDiagnostics::WithoutNotes, environment);
  if (checked.diagnostics.has_errors()) return exit_failed;

  if (command.as == "bytecode") environment.write_output(bytecode::disassemble(program));
  if (command.as == "prompts") {
    auto templates = load_prompt_templates(command.prompts, environment);
    if (!templates) return exit_usage;
    environment.write_output(show_prompts(program, std::move(*templates)));
  }
  return exit_done;
}

}  // namespace tenon::cli
