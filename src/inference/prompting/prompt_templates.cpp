#include "inference/prompting/prompt_templates.h"

#include <fmt/format.h>

#include "base/ensure.h"
#include "inference/prompting/builtin_templates.h"

namespace tenon::inference::prompting {
namespace {

constexpr std::array<std::string_view, template_count> names = {"select", "fill", "format", "text", "empty", "repair"};

TemplateNames names_of(TemplateKind kind) {
  switch (kind) {
    case TemplateKind::Select:
      return {{}, {{"clauses", {"index", "function", "binding", "signature", "documentation"}}}};
    case TemplateKind::Fill:
      return {{"function", "signature", "documentation", "holes", "outline"}, {}};
    case TemplateKind::Format:
      return {{"function", "outline"}, {}};
    case TemplateKind::Text:
      return {{"function", "outline"}, {}};
    case TemplateKind::Empty:
      return {{"function", "signature", "documentation"}, {}};
    case TemplateKind::Repair:
      return {{"function", "outline"}, {{"problems", {"problem"}}}};
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
  const bool is_builtin = find_builtin_template(style, names[0]).has_value();
  std::array<Entry, template_count> entries;
  std::size_t found = 0;
  for (std::size_t index = 0; index < template_count; ++index) {
    std::string path = fmt::format("{}/{}.txt", style, names[index]);
    Entry& entry = entries[index];
    if (!is_builtin) {
      Result<std::string, FileError> text = files.read_file(path, file_bytes_max);
      if (text) {
        ++found;
        entry.source = std::move(*text);
      } else if (!text.error().is_missing) {
        return failure(TemplateError{std::move(path), 0, std::move(text.error().message)});
      } else {
        entry.source = find_builtin_template("default", names[index]).value();
      }
    } else {
      const std::optional<std::string_view> text = find_builtin_template(style, names[index]);
      ENSURE(text.has_value());
      entry.source = *text;
    }
    Result<TextTemplate, TemplateError> parsed =
        TextTemplate::parse(entry.source, names_of(TemplateKind{static_cast<std::uint8_t>(index)}), path);
    if (!parsed) return failure(std::move(parsed.error()));
    entry.text = std::move(*parsed);
  }
  if (!is_builtin && found == 0) {
    return failure(
        TemplateError{std::string(style), 0,
                      "no style of that name, and no folder with one of select.txt, fill.txt, format.txt, text.txt, "
                      "empty.txt, repair.txt; the styles are `default` and `slides`"});
  }
  return PromptTemplates(std::move(entries));
}

Result<PromptTemplates, TemplateError> PromptTemplates::from_texts(
    std::span<const std::pair<std::string, std::string>> texts) {
  std::array<Entry, template_count> entries;
  for (std::size_t index = 0; index < template_count; ++index) {
    Entry& entry = entries[index];
    entry.source = find_builtin_template("default", names[index]).value();
    for (const auto& [name, text] : texts) {
      if (name == names[index]) entry.source = text;
    }
    Result<TextTemplate, TemplateError> parsed = TextTemplate::parse(
        entry.source, names_of(TemplateKind{static_cast<std::uint8_t>(index)}), std::string(names[index]));
    if (!parsed) return failure(std::move(parsed.error()));
    entry.text = std::move(*parsed);
  }
  return PromptTemplates(std::move(entries));
}

PromptTemplates PromptTemplates::builtin(std::string_view style) {
  ENSURE(find_builtin_template(style, names[0]).has_value());
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

}  // namespace tenon::inference::prompting
