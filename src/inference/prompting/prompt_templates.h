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

/// The wordings around a context. docs/internals/answers.md has the names that each can use.
enum class TemplateKind : std::uint8_t {
  Select,  ///< select.txt: after the context, in the same message: the clauses
  Fill,    ///< fill.txt: a message of its own: the call and its missing arguments
  Format,  ///< format.txt: a message of its own: how a completion's or a select's JSON looks
  Text,    ///< text.txt: a message of its own: what a text must be like, when its type says so
  Empty,   ///< empty.txt: what stands for a context without entries: the function that is completed
  Repair,  ///< repair.txt: the answer to an answer that cannot be used
};
inline constexpr std::size_t template_count = 6;
/// The file's name without `.txt`.
[[nodiscard]] std::string_view template_name(TemplateKind kind);

/// One style's wordings. A wording that renders to nothing is not sent.
class PromptTemplates {
 public:
  /// A wording's file is refused when it is longer.
  static constexpr std::size_t file_bytes_max = 256U * 1024U;

  /// `default` or `slides`, or the folder of a project's own style: each file that is missing there is the default
  /// style's. Fails when no file is there at all, or when one cannot be read as a template.
  [[nodiscard]] static Result<PromptTemplates, TemplateError> load(std::string_view style, FileSystem& files);
  /// The inverse of `source`: texts by the wordings' names. A wording without a text is the default style's.
  [[nodiscard]] static Result<PromptTemplates, TemplateError> from_texts(
      std::span<const std::pair<std::string, std::string>> texts);
  /// The style `default`, or `slides`.
  [[nodiscard]] static PromptTemplates builtin(std::string_view style = "default");

  [[nodiscard]] std::string render(TemplateKind kind, const TemplateData& data) const;
  /// The texts of all wordings as they were loaded, for the program's record: equal templates have equal texts.
  [[nodiscard]] const std::string& source(TemplateKind kind) const;

 private:
  struct Entry {
    std::string source;
    TextTemplate text;
  };
  explicit PromptTemplates(std::array<Entry, template_count> entries);

  std::shared_ptr<const std::array<Entry, template_count>> entries_;
};

}  // namespace tenon::inference::prompting
