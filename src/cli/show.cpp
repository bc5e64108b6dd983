#include <fmt/format.h>

#include <algorithm>

#include "bytecode/disassembler.h"
#include "cli/commands.h"
#include "cli/diagnostics_output.h"
#include "cli/engine_report.h"
#include "compiler/compile.h"
#include "diagnostics/kinds.h"
#include "diagnostics/render.h"
#include "engine/program.h"
#include "engine/shown_prompts.h"
#include "graph/graph_json.h"
#include "graph/pictures.h"
#include "syntax/format.h"
#include "syntax/parse.h"
#include "syntax/show.h"

namespace tenon::cli {
namespace {

/// The type of each expression, in the order of the source: `3:5 binary i32 `n + 1``.
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

/// The program with its blocks lowered to functions, as it is checked and compiled.
std::string show_lowered(const types::Module& module) {
  const source::SourceFile file(source::FileId{0}, module.file->path(),
                                module.written ? module.lowered : std::string(module.file->text()));
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  return diagnostics.has_errors() ? std::string(file.text()) : syntax::format(tree);
}

std::string text_of(const engine::ShownPrompts& shown) {
  std::string out;
  for (const engine::ShownPrompt& prompt : shown.prompts) {
    out += prompt.heading() + prompt.text();
    if (prompt.other_forms == 1) out += "(or with another form of the answer, which depends on the run)\n";
    if (prompt.other_forms > 1) {
      out +=
          fmt::format("(or with one of {} other forms of the answer, which depends on the run)\n", prompt.other_forms);
    }
    out += '\n';
  }
  for (const std::string& tool : shown.tools) out += tool;
  return out;
}

/// Prints the graph of the text without type-checking the program.
int show_graph(const ShowCommand& command, const Environment& environment) {
  auto text = environment.system.files.read_file(command.file, source::source_bytes_max);
  if (!text) return fail_unreadable(command.file, text.error(), environment);
  const source::SourceFile file({0}, command.file, std::move(*text));
  diagnostics::Diagnostics diagnostics;
  const syntax::SyntaxTree tree = syntax::parse(file, diagnostics);
  print_diagnostics(diagnostics, file, environment);
  if (diagnostics.has_errors()) return exit_failed;
  const graph::Graph graph = graph::make_graph(tree);
  environment.write_output(command.form == "dot"   ? graph::to_dot(graph)
                           : command.form == "svg" ? graph::to_svg(graph)
                                                   : graph::to_json(graph, tree) + "\n");
  return exit_done;
}

/// Whether there is no text to show: only the entry file's own errors of reading have no location.
bool is_unreadable(const types::Checked& checked) {
  const auto is_of_reading = [](const diagnostics::Diagnostic& found) {
    return !found.span.file.exists() &&
           (found.code == diagnostics::UnreadableFile.code || found.code == diagnostics::SourceTooLarge.code);
  };
  return std::ranges::any_of(checked.diagnostics.all(), is_of_reading);
}

}  // namespace

int show(const ShowCommand& command, const Environment& environment) {
  if (command.as == "graph") return show_graph(command, environment);
  types::Checked checked = types::check(command.file, environment.system.files, types::Strictness::Relaxed);
  if (is_unreadable(checked)) {
    print_diagnostics(checked, ShownDiagnostics::WithoutNotes, environment);
    return exit_failed;
  }
  const types::Module& entry = checked.program.modules.front();
  const syntax::SyntaxTree& tree = entry.written ? *entry.written : *entry.tree;
  if (command.as == "lowered") environment.write_output(show_lowered(entry));
  if (command.as == "tokens") environment.write_output(syntax::show_tokens(tree));
  if (command.as == "tree") environment.write_output(syntax::show_tree(tree));
  if (command.as == "types") environment.write_output(show_types(checked));
  const bool needs_program = command.as == "bytecode" || command.as == "prompts";
  bytecode::Program program;
  if (needs_program && !checked.diagnostics.has_errors())
    program = compiler::compile(checked.program, checked.diagnostics);
  print_diagnostics(checked, ShownDiagnostics::WithoutNotes, environment);
  if (checked.diagnostics.has_errors()) return exit_failed;

  if (command.as == "bytecode") environment.write_output(bytecode::disassemble(program));
  if (command.as == "prompts") {
    auto templates = engine::load_prompt_templates(command.prompts, environment.system);
    if (!templates) return report(templates.error(), environment);
    environment.write_output(text_of(engine::show_prompts(program, std::move(*templates))));
  }
  return exit_done;
}

}  // namespace tenon::cli
