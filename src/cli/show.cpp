#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <span>

#include "bytecode/context_preview.h"
#include "bytecode/disassembler.h"
#include "bytecode/library.h"
#include "bytecode/tool_sets.h"
#include "cli/commands.h"
#include "cli/diagnostics_output.h"
#include "cli/engine_report.h"
#include "compiler/compile.h"
#include "diagnostics/kinds.h"
#include "diagnostics/render.h"
#include "engine/program.h"
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

using inference::prompting::ContextPart;

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

/// The entries as the parts of a context; `texts` keeps their text.
std::vector<ContextPart> make_parts(const std::vector<bytecode::PreviewEntry>& entries,
                                    std::deque<std::string>& texts) {
  std::vector<ContextPart> parts;
  for (const bytecode::PreviewEntry& entry : entries) {
    const bool is_new = parts.empty() || parts.back().role != entry.role;
    if (is_new) {
      parts.emplace_back().role = entry.role;
      texts.emplace_back();
    }
    ContextPart& part = parts.back();
    std::string& text = texts.back();
    if (!is_new) {
      text += '\n';
      part.entry_ends.back() = static_cast<std::uint32_t>(text.size());
    }
    if (!entry.is_certain) text += "(in some runs) ";
    text += entry.text;
    part.text = text;
    part.entry_ends.push_back(static_cast<std::uint32_t>(text.size()));
    part.has_data.push_back(entry.has_unknown);
  }
  return parts;
}

/// What would be sent at each call site where a model is asked. Data are known only in a run, and appear as
/// `{{ name }}`.
class PromptList {
 public:
  PromptList(const bytecode::Program& program, inference::prompting::PromptTemplates templates)
      : program_(program), prompts_(program, std::move(templates)), preview_(bytecode::preview_contexts(program)) {}

  std::string write() {
    for (const auto& [site, ways] : preview_.sites) {
      for (const bytecode::SitePreview& asked : ways) add_prompt(site, asked);
    }
    std::string out;
    for (const Prompt& prompt : shown_) {
      out += prompt.heading + prompt.body;
      if (prompt.others.size() == 1) out += "(or with another form of the answer, which depends on the run)\n";
      if (prompt.others.size() > 1) {
        out += fmt::format("(or with one of {} other forms of the answer, which depends on the run)\n",
                           prompt.others.size());
      }
      out += '\n';
    }
    for (const std::uint32_t tool : preview_.tools) out += write_tool(program_.tools[tool]);
    return out;
  }

 private:
  struct Prompt {
    std::string heading;
    std::string context;           ///< the entries, as text
    std::string body;              ///< what is sent, and the form of the answer
    std::set<std::string> others;  ///< the same with other forms
  };

  /// A function may ask at several sites for the same, and a library with the same context for answers that only
  /// differ in their number.
  void add_prompt(std::uint32_t index, const bytecode::SitePreview& asked) {
    const bytecode::Site& site = program_.sites[index];
    const bytecode::Function& function = program_.functions[site.function];
    Prompt prompt;
    prompt.heading = fmt::format("{}:{}:{}: {} `{}`\n", program_.sources[site.place.file].path, site.place.line,
                                 site.place.column, kind_name(site.kind), bytecode::shown_name(program_, function));
    std::deque<std::string> texts;
    const std::vector<ContextPart> parts = make_parts(asked.entries, texts);
    for (const ContextPart& part : parts) prompt.context += write_part(part);
    prompt.body = write_body(index, asked, parts);
    const auto same = std::ranges::find_if(shown_, [&](const Prompt& shown) {
      return shown.heading == prompt.heading && shown.context == prompt.context;
    });
    if (same == shown_.end()) {
      shown_.push_back(std::move(prompt));
    } else if (same->body != prompt.body) {
      same->others.insert(std::move(prompt.body));
    }
  }

  static std::string write_part(const ContextPart& part) {
    return fmt::format("[{}]\n{}\n", inference::role_name(inference::prompting::role_of(part.role)), part.text);
  }

  std::string write_body(std::uint32_t index, const bytecode::SitePreview& asked, std::span<const ContextPart> parts) {
    std::vector<bytecode::ToolIndices> sets;
    bool is_certain = true;
    for (const std::optional<bytecode::PreviewTools>& tools : asked.sets) {
      if (!tools) {
        std::string body =
            "(and a clause for each tool of sets that are known only in a run; all tools follow below)\n";
        for (const ContextPart& part : parts) body += write_part(part);
        return body;
      }
      sets.push_back(tools->tools);
      is_certain = is_certain && tools->is_certain;
    }
    std::string body = is_certain ? "" : "(some of these tools, which depends on the run)\n";
    const inference::GenerationRequest request = prompts_.make_request({index, sets}, parts, {});
    for (const inference::Message& message : request.messages) {
      body += fmt::format("[{}]\n{}\n", inference::role_name(message.role), message.text);
    }
    return body + (request.schema ? fmt::format("[schema]\n{}\n", request.schema->json_schema) : "[text]\n");
  }

  [[nodiscard]] std::string write_tool(const bytecode::Tool& tool) const {
    std::string out = fmt::format("{}:{}:{}: tool `{}`\n{}", program_.sources[tool.place.file].path, tool.place.line,
                                  tool.place.column, tool.call.name, tool.call.signature);
    if (!tool.call.documentation.empty()) out += " // " + inference::answers::flatten(tool.call.documentation);
    bytecode::Site arguments;
    arguments.kind = bytecode::SiteKind::Fill;
    arguments.call = tool.call;
    const inference::answers::AnswerShape shape = inference::answers::make_answer_shape(program_, arguments);
    return out + fmt::format("\n[schema]\n{}\n\n", shape.schema->json_schema);
  }

  const bytecode::Program& program_;
  inference::prompting::SitePrompts prompts_;
  bytecode::ProgramPreview preview_;
  std::vector<Prompt> shown_;
};

/// Prints the graph of the text without type-checking the program.
int show_graph(const ShowCommand& command, const Environment& environment) {
  auto text = environment.system.files.read_file(command.file, source::source_bytes_max);
  if (!text) return fail_unreadable(command.file, text.error(), environment);
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
    environment.write_output(PromptList(program, std::move(*templates)).write());
  }
  return exit_done;
}

}  // namespace tenon::cli
