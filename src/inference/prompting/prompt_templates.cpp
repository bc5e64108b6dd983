#include "inference/prompting/prompt_templates.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "inference/prompting/builtin_templates.h"

namespace tenon::inference::prompting {
namespace {

constexpr std::array<std::string_view, template_count> names = {"select", "fill",    "format",  "text", "empty",
                                                                "repair", "ensures", "refused", "data", "keys"};

TemplateNames names_of(TemplateKind kind) {
  switch (kind) {
    case TemplateKind::Select:
      return {{}, {{"clauses", {"index", "function", "binding", "signature", "given", "documentation"}}}};
    case TemplateKind::Fill:
      return {{"function", "signature", "given", "documentation", "holes", "outline", "form"}, {}};
    case TemplateKind::Format:
      return {{"function", "outline"}, {}};
    case TemplateKind::Text:
      return {{"function", "outline"}, {}};
    case TemplateKind::Empty:
      return {{"function", "signature", "documentation"}, {}};
    case TemplateKind::Repair:
      return {{"function", "outline"}, {{"problems", {"problem"}}}};
    case TemplateKind::Ensures:
      return {{"function"}, {{"requirements", {"requirement"}}}};
    case TemplateKind::Refused:
      return {{"function", "answer", "arguments"}, {{"reasons", {"reason"}}}};
    case TemplateKind::Data:
      return {{"data", "mark"}, {}};
    case TemplateKind::Keys:
      return {{"function"}, {{"keys", {"key", "words"}}}};
  }
  return {};
}

}  // namespace

std::string_view template_name(TemplateKind kind) {
  return names[static_cast<std::size_t>(kind)];
}

PromptTemplates::PromptTemplates(std::array<Entry, template_count> entries)
    : entries_(std::make_shared<const std::array<Entry, template_count>>(std::move(entries))) {}

Result<PromptTemplates, TemplateError> PromptTemplates::load(std::string_view style, FileSystem& files) {
  const bool is_builtin =
      std::ranges::any_of(names, [&](std::string_view name) { return find_builtin_template(style, name).has_value(); });
  std::array<Entry, template_count> entries;
  bool has_file = is_builtin;
  for (std::size_t index = 0; index < template_count; ++index) {
    std::string path = fmt::format("{}/{}.txt", style, names[index]);
    Entry& entry = entries[index];
    entry.source = find_builtin_template(is_builtin ? style : "default", names[index])
                       .value_or(find_builtin_template("default", names[index]).value());
    if (!is_builtin) {
      Result<std::string, FileError> text = files.read_file(path, file_bytes_max);
      if (!text && !text.error().is_missing) {
        return failure(TemplateError{std::move(path), 0, std::move(text.error().message)});
      }
      if (text) {
        has_file = true;
        entry.source = std::move(*text);
      }
    }
    Result<TextTemplate, TemplateError> parsed =
        TextTemplate::parse(entry.source, names_of(TemplateKind{static_cast<std::uint8_t>(index)}), path);
    if (!parsed) return failure(std::move(parsed.error()));
    entry.text = std::move(*parsed);
  }
  if (!has_file) {
    return failure(TemplateError{
        "", 0,
        fmt::format("unknown prompt style `{}`; expected default, slides, marked or a folder of templates", style)});
  }
  return PromptTemplates(std::move(entries));
}

Result<PromptTemplates, TemplateError> PromptTemplates::from_texts(
    std::span<const std::pair<std::string, std::string>> texts) {
  std::array<Entry, template_count> entries;
  for (std::size_t index = 0; index < template_count; ++index) {
    Entry& entry = entries[index];
    entry.source = find_builtin_template("default", names[index]).value();
    entry.is_recorded = false;
    for (const auto& [name, text] : texts) {
      if (name != names[index]) continue;
      entry.source = text;
      entry.is_recorded = true;
    }
    Result<TextTemplate, TemplateError> parsed = TextTemplate::parse(
        entry.source, names_of(TemplateKind{static_cast<std::uint8_t>(index)}), std::string(names[index]));
    if (!parsed) return failure(std::move(parsed.error()));
    entry.text = std::move(*parsed);
  }
  return PromptTemplates(std::move(entries));
}

PromptTemplates PromptTemplates::builtin(std::string_view style) {
  RealFileSystem unused;
  Result<PromptTemplates, TemplateError> loaded = load(style, unused);
  ENSURE(loaded.has_value());
  return std::move(*loaded);
}

std::string PromptTemplates::render(TemplateKind kind, const TemplateData& data) const {
  return (*entries_)[static_cast<std::size_t>(kind)].text.render(data);
}

const std::string& PromptTemplates::source(TemplateKind kind) const {
  return (*entries_)[static_cast<std::size_t>(kind)].source;
}

bool PromptTemplates::is_recorded(TemplateKind kind) const {
  return (*entries_)[static_cast<std::size_t>(kind)].is_recorded;
}

}  // namespace tenon::inference::prompting
