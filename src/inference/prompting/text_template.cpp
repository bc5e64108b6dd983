#include "inference/prompting/text_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace tenon::inference::prompting {
namespace {

constexpr std::size_t sections_depth_max = 64;
constexpr std::string_view white_space = " \t";

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

const std::string* find_text(std::span<const TemplateData* const> scopes, std::string_view name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (const auto found = (*scope)->texts.find(name); found != (*scope)->texts.end()) return &found->second;
  }
  return nullptr;
}

const std::vector<TemplateData>* find_list(std::span<const TemplateData* const> scopes, std::string_view name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (const auto found = (*scope)->lists.find(name); found != (*scope)->lists.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace

class TemplateParser {
 public:
  TemplateParser(std::string_view text, const TemplateNames& names, std::string_view file)
      : text_(text), names_(names), file_(file) {}

  Result<TextTemplate, TemplateError> parse() {
    if (text_.ends_with('\n')) text_.remove_suffix(1);
    while (at_ < text_.size()) {
      const std::size_t brace = text_.find("{{", at_);
      if (brace == std::string_view::npos) break;
      if (brace > at_ && text_[brace - 1] == '\\') {
        add_text(text_.substr(at_, brace - 1 - at_));
        add_text("{{");
        at_ = brace + 2;
        continue;
      }
      const std::size_t end = text_.find("}}", brace);
      if (end == std::string_view::npos) return stop(brace, "unclosed `{{`: missing `}}`");
      const std::string_view tag = text_.substr(brace + 2, end - brace - 2);
      if (std::optional<TemplateError> error = parse_tag(tag, brace, end + 2)) return failure(std::move(*error));
    }
    add_text(text_.substr(at_));
    if (!open_.empty()) return stop(open_.back().at, fmt::format("{{{{#{}}}}} is not closed", open_.back().name));
    return std::move(result_);
  }

 private:
  struct Open {
    std::string_view name;
    std::size_t piece;
    std::size_t at;
  };

  std::optional<TemplateError> parse_tag(std::string_view tag, std::size_t begin, std::size_t end) {
    const char sign = tag.empty() ? ' ' : tag.front();
    const bool is_section = sign == '#' || sign == '^' || sign == '/';
    const std::string_view name = is_section ? tag.substr(1) : tag;
    if (!is_section) {
      add_text(text_.substr(at_, begin - at_));
      at_ = end;
      if (!is_known_text(name)) return error_at(begin, unknown(name));
      result_.pieces_.push_back({TextTemplate::PieceKind::Name, std::string(name), 0});
      return std::nullopt;
    }
    std::size_t text_end = begin;
    std::size_t next = end;
    find_own_line(begin, end, text_end, next);
    add_text(text_.substr(at_, text_end - at_));
    at_ = next;
    if (sign == '/') {
      if (open_.empty() || open_.back().name != name)
        return error_at(begin, fmt::format("{{{{/{}}}}} has no section to close", name));
      result_.pieces_[open_.back().piece].after = result_.pieces_.size();
      open_.pop_back();
      return std::nullopt;
    }
    if (!is_known_text(name) && !names_.lists.contains(name)) return error_at(begin, unknown(name));
    if (open_.size() == sections_depth_max) return error_at(begin, "sections are nested too deep");
    open_.push_back({name, result_.pieces_.size(), begin});
    const auto kind = sign == '#' ? TextTemplate::PieceKind::Section : TextTemplate::PieceKind::InvertedSection;
    result_.pieces_.push_back({kind, std::string(name), 0});
    return std::nullopt;
  }

  /// If a tag is alone on its line, the line is removed with it: the text ends where the line begins, and continues
  /// after its newline.
  void find_own_line(std::size_t begin, std::size_t end, std::size_t& text_end, std::size_t& next) const {
    std::size_t line = begin;
    while (line > at_ && white_space.find(text_[line - 1]) != std::string_view::npos) --line;
    const bool begins_line = line == 0 || text_[line - 1] == '\n';
    const std::size_t after = std::min(text_.find_first_not_of(white_space, end), text_.size());
    const bool ends_line = after == text_.size() || text_[after] == '\n';
    if (!begins_line || !ends_line) return;
    text_end = line;
    next = std::min(after + 1, text_.size());
  }

  bool is_known_text(std::string_view name) const {
    if (contains(names_.texts, name)) return true;
    return std::ranges::any_of(open_, [&](const Open& open) {
      const auto list = names_.lists.find(open.name);
      return list != names_.lists.end() && contains(list->second, name);
    });
  }

  std::string unknown(std::string_view name) const {
    std::vector<std::string_view> known = names_.texts;
    for (const auto& [list, texts] : names_.lists) {
      known.push_back(list);
      known.insert(known.end(), texts.begin(), texts.end());
    }
    return fmt::format("{{{{{}}}}} is not a name of this template; the names are: {}", name, fmt::join(known, ", "));
  }

  void add_text(std::string_view text) {
    if (!text.empty()) result_.pieces_.push_back({TextTemplate::PieceKind::Text, std::string(text), 0});
  }

  TemplateError error_at(std::size_t at, std::string message) const {
    const auto line = static_cast<std::uint32_t>(std::ranges::count(text_.substr(0, at), '\n') + 1);
    return {std::string(file_), line, std::move(message)};
  }
  tl::unexpected<TemplateError> stop(std::size_t at, std::string message) const {
    return tl::unexpected<TemplateError>(error_at(at, std::move(message)));
  }

  std::string_view text_;
  const TemplateNames& names_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  TextTemplate result_;
};

Result<TextTemplate, TemplateError> TextTemplate::parse(std::string_view text, const TemplateNames& names,
                                                        std::string_view file) {
  return TemplateParser(text, names, file).parse();
}

std::string TextTemplate::render(const TemplateData& data) const {
  std::string out;
  std::vector<const TemplateData*> scopes{&data};
  render(0, pieces_.size(), scopes, out);
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

void TextTemplate::render(std::size_t begin, std::size_t end, std::vector<const TemplateData*>& scopes,
                          std::string& out) const {
  for (std::size_t index = begin; index < end; ++index) {
    const Piece& piece = pieces_[index];
    switch (piece.kind) {
      case PieceKind::Text:
        out += piece.text;
        break;
      case PieceKind::Name:
        if (const std::string* text = find_text(scopes, piece.text)) out += *text;
        break;
      case PieceKind::Section:
        if (const std::vector<TemplateData>* list = find_list(scopes, piece.text)) {
          for (const TemplateData& element : *list) {
            scopes.push_back(&element);
            render(index + 1, piece.after, scopes, out);
            scopes.pop_back();
          }
        } else if (const std::string* text = find_text(scopes, piece.text); text != nullptr && !text->empty()) {
          render(index + 1, piece.after, scopes, out);
        }
        index = piece.after - 1;
        break;
      case PieceKind::InvertedSection: {
        const std::vector<TemplateData>* list = find_list(scopes, piece.text);
        const std::string* text = find_text(scopes, piece.text);
        if ((list == nullptr || list->empty()) && (text == nullptr || text->empty()))
          render(index + 1, piece.after, scopes, out);
        index = piece.after - 1;
        break;
      }
    }
  }
}

}  // namespace tenon::inference::prompting
