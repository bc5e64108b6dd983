#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_system.h"
#include "base/result.h"
#include "inference/prompting/text_template.h"

namespace tenon::inference::prompting {

/// The prompt templates: the texts that are sent around a context. docs/internals/answers.md lists the names that each
/// can use.
enum class TemplateKind : std::uint8_t {
  Select,   ///< select.txt: after the context, in the same message: the clauses
  Fill,     ///< fill.txt: a separate message: the call and its missing arguments
  Format,   ///< format.txt: a separate message: the form of a completion's or a select's JSON
  Text,     ///< text.txt: a separate message: what the type requires of a text
  Empty,    ///< empty.txt: replaces a context without entries: the function that is completed
  Repair,   ///< repair.txt: the reply to an answer that cannot be used
  Ensures,  ///< ensures.txt: a separate message: what the function's contract ensures
  Refused,  ///< refused.txt: the reply to an answer that breaks a contract
  Data,     ///< data.txt: marks an entry with data in it; renders to nothing where entries are sent unmarked
  Keys,     ///< keys.txt: what doc comments say about the answer's keys, where its form is not described; or nothing
};
inline constexpr std::size_t template_count = 10;
/// The file's name without `.txt`.
[[nodiscard]] std::string_view template_name(TemplateKind kind);

/// The prompt templates of one style. A template that renders to nothing is not sent.
class PromptTemplates {
 public:
  /// A longer file is refused.
  static constexpr std::size_t file_bytes_max = 256U * 1024U;

  /// A built-in style (`default`, `slides`, `marked`), or the folder of a project's own style. A file that is missing
  /// in it is taken from the style `default`. Fails if the folder has none of the files, or if one is not a template.
  [[nodiscard]] static Result<PromptTemplates, TemplateError> load(std::string_view style, FileSystem& files);
  /// The inverse of `source`: texts by the templates' names. A missing one is taken from the style `default`.
  [[nodiscard]] static Result<PromptTemplates, TemplateError> from_texts(
      std::span<const std::pair<std::string, std::string>> texts);
  /// `style` is a built-in one.
  [[nodiscard]] static PromptTemplates builtin(std::string_view style = "default");

  [[nodiscard]] std::string render(TemplateKind kind, const TemplateData& data) const;
  /// The template's text as it was loaded, for the program's record: equal templates have equal texts.
  [[nodiscard]] const std::string& source(TemplateKind kind) const;
  /// Whether the record that `from_texts` read has the template. Older programs were recorded without some; what is
  /// sent for them is then not part of a request's identity.
  [[nodiscard]] bool is_recorded(TemplateKind kind) const;

 private:
  struct Entry {
    std::string source;
    TextTemplate text;
    bool is_recorded = true;
  };
  explicit PromptTemplates(std::array<Entry, template_count> entries);

  std::shared_ptr<const std::array<Entry, template_count>> entries_;
};

}  // namespace tenon::inference::prompting
