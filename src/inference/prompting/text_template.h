#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::inference::prompting {

struct TemplateError {
  std::string file;        ///< empty: none
  std::uint32_t line = 0;  ///< from 1; 0: the file as a whole
  std::string message;
};

/// The values of a template's names. A name without a value is empty.
struct TemplateData {
  std::map<std::string_view, std::string> texts;
  std::map<std::string_view, std::vector<TemplateData>> lists;
};

/// The names that a template may use. Those of a list may be used inside its section, all others everywhere.
struct TemplateNames {
  std::vector<std::string_view> texts;
  std::map<std::string_view, std::vector<std::string_view>> lists;
};

/// A text with names that are replaced by values:
/// - `{{name}}` is the text of that name, as it is: what is filled in is never read as a template again.
/// - `{{#name}}…{{/name}}` is repeated for each element of a list, or appears once if a text is not empty.
/// - `{{^name}}…{{/name}}` appears if the list or text is empty.
/// - `\{{` is `{{` itself. A line with nothing but one section's tag is removed. The last newline of a file is not part
/// of the text.
class TextTemplate {
 public:
  /// Fails on a name that is not in `names`, and on sections that do not match. `file` is for the message.
  [[nodiscard]] static Result<TextTemplate, TemplateError> parse(std::string_view text, const TemplateNames& names,
                                                                 std::string_view file);

  [[nodiscard]] std::string render(const TemplateData& data) const;

 private:
  enum class PieceKind : std::uint8_t { Text, Name, Section, InvertedSection };
  struct Piece {
    PieceKind kind = PieceKind::Text;
    std::string text;       ///< the text or the name
    std::size_t after = 0;  ///< of a section: the index after its last piece
  };
  friend class TemplateParser;

  void render(std::size_t begin, std::size_t end, std::vector<const TemplateData*>& scopes, std::string& out) const;

  std::vector<Piece> pieces_;
};

}  // namespace tenon::inference::prompting
