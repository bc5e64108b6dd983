#include "engine/shown_prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <span>

#include "bytecode/context_preview.h"
#include "bytecode/library.h"
#include "bytecode/tool_sets.h"
#include "inference/answers/answer_shape.h"
#include "inference/answers/outline.h"
#include "inference/prompting/site_prompts.h"

namespace tenon::engine {
namespace {

using inference::prompting::ContextPart;

std::string_view site_kind_name(bytecode::SiteKind kind) {
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
    if (!entry.is_certain) text += bytecode::in_some_runs;
    text += entry.text;
    part.text = text;
    part.entry_ends.push_back(static_cast<std::uint32_t>(text.size()));
    part.has_data.push_back(entry.has_unknown);
  }
  return parts;
}

class PromptList {
 public:
  PromptList(const bytecode::Program& program, inference::prompting::PromptTemplates templates)
      : program_(program), prompts_(program, std::move(templates)), preview_(bytecode::preview_contexts(program)) {}

  ShownPrompts make() {
    for (const auto& [site, ways] : preview_.sites) {
      for (const bytecode::SitePreview& asked : ways) add_prompt(site, asked);
    }
    ShownPrompts shown;
    for (Listed& one : listed_) {
      one.prompt.other_forms = one.others.size();
      shown.prompts.push_back(std::move(one.prompt));
    }
    for (const std::uint32_t tool : preview_.tools) shown.tools.push_back(write_tool(program_.tools[tool]));
    return shown;
  }

 private:
  struct Listed {
    ShownPrompt prompt;
    std::string context;           ///< the entries, as text
    std::set<std::string> others;  ///< the same with other forms
  };

  /// A function may ask at several sites for the same, and a library with the same context for answers that only
  /// differ in their number.
  void add_prompt(std::uint32_t index, const bytecode::SitePreview& asked) {
    const bytecode::Site& site = program_.sites[index];
    Listed one;
    one.prompt.file = program_.sources[site.place.file].path;
    one.prompt.line = site.place.line;
    one.prompt.column = site.place.column;
    one.prompt.kind = site_kind_name(site.kind);
    one.prompt.function = bytecode::shown_name(program_, program_.functions[site.function]);
    std::deque<std::string> texts;
    const std::vector<ContextPart> parts = make_parts(asked.entries, texts);
    for (const ContextPart& part : parts) {
      one.context +=
          fmt::format("[{}]\n{}\n", inference::role_name(inference::prompting::role_of(part.role)), part.text);
    }
    add_body(one.prompt, index, asked, parts);
    const auto same = std::ranges::find_if(listed_, [&](const Listed& listed) {
      return listed.prompt.heading() == one.prompt.heading() && listed.context == one.context;
    });
    if (same == listed_.end()) {
      listed_.push_back(std::move(one));
    } else if (same->prompt.text() != one.prompt.text()) {
      same->others.insert(one.prompt.text());
    }
  }

  void add_body(ShownPrompt& prompt, std::uint32_t index, const bytecode::SitePreview& asked,
                std::span<const ContextPart> parts) {
    std::vector<bytecode::ToolIndices> sets;
    for (const std::optional<bytecode::PreviewTools>& tools : asked.sets) {
      if (!tools) {
        prompt.note = "(and a clause for each tool of sets that are known only in a run; all tools follow below)";
        prompt.has_answer_form = false;
        for (const ContextPart& part : parts) {
          prompt.messages.push_back({inference::prompting::role_of(part.role), std::string(part.text), {}});
        }
        return;
      }
      sets.push_back(tools->tools);
      if (!tools->is_certain) prompt.note = "(some of these tools, which depends on the run)";
    }
    inference::GenerationRequest request = prompts_.make_request({index, sets}, parts, {});
    prompt.messages = std::move(request.messages);
    if (request.schema) prompt.schema = request.schema->json_schema;
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
  std::vector<Listed> listed_;
};

}  // namespace

std::string ShownPrompt::heading() const {
  return fmt::format("{}:{}:{}: {} `{}`\n", file, line, column, kind, function);
}

std::string ShownPrompt::text() const {
  std::string out = note.empty() ? "" : note + '\n';
  for (const inference::Message& message : messages) {
    out += fmt::format("[{}]\n{}\n", inference::role_name(message.role), message.text);
  }
  if (!has_answer_form) return out;
  return out + (schema.empty() ? "[text]\n" : fmt::format("[schema]\n{}\n", schema));
}

ShownPrompts show_prompts(const bytecode::Program& program, inference::prompting::PromptTemplates templates) {
  return PromptList(program, std::move(templates)).make();
}

Result<ShownPrompts, EngineError> find_prompts(const ProgramSource& source, Settings settings, const System& system) {
  const auto manifest = read_manifest(source.path, system);
  if (!manifest) return failure(manifest.error());
  const auto compiled = compile(source, system);
  if (!compiled) return failure(compiled.error());
  complete(settings, *manifest);
  auto templates = load_prompt_templates(settings.prompts, system);
  if (!templates) return failure(std::move(templates.error()));
  return show_prompts(compiled->loaded->program(), std::move(*templates));
}

}  // namespace tenon::engine
