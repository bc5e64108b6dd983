#include "syntax/layout.h"

#include "base/ensure.h"
#include "base/utf8.h"

namespace tenon::syntax {
namespace {

constexpr std::size_t indent_width = 4;

}  // namespace

void Layout::add_text(Kind kind, std::string_view text) {
  Command command;
  command.kind = kind;
  command.text = text;
  const std::size_t first = text.find('\n');
  command.has_newline = first != std::string_view::npos;
  command.width = static_cast<std::uint32_t>(count_code_points(text.substr(0, first)));
  if (command.has_newline) {
    command.last_width = static_cast<std::uint32_t>(count_code_points(text.substr(text.rfind('\n') + 1)));
  }
  commands_.push_back(command);
}

void Layout::text(std::string_view text) {
  add_text(Kind::Text, text);
}

void Layout::text_if_broken(std::string_view text) {
  add_text(Kind::TextIfBroken, text);
}

void Layout::line(Line line, Blank blank) {
  Command command;
  command.kind = Kind::Line;
  command.line = line;
  command.blank = blank;
  commands_.push_back(command);
  if (line == Line::Hard) ++hard_count_;
}

std::size_t Layout::begin_group() {
  open_groups_.push_back({commands_.size(), hard_count_});
  Command command;
  command.kind = Kind::BeginGroup;
  commands_.push_back(command);
  return commands_.size() - 1;
}

void Layout::end_group() {
  ENSURE(!open_groups_.empty());
  const OpenGroup group = open_groups_.back();
  open_groups_.pop_back();
  commands_[group.command].breaks = hard_count_ > group.hard_count;
  Command command;
  command.kind = Kind::EndGroup;
  commands_.push_back(command);
}

void Layout::end_hugging_group(std::size_t inner) {
  const std::size_t outer = open_groups_.back().command;
  ENSURE(inner > outer);
  end_group();
  commands_[outer].breaks = false;
  commands_[outer].hugged = static_cast<std::uint32_t>(inner);
}

void Layout::indent() {
  Command command;
  command.kind = Kind::Indent;
  commands_.push_back(command);
}

void Layout::dedent() {
  Command command;
  command.kind = Kind::Dedent;
  commands_.push_back(command);
}

/// Whether the group that starts at `begin`, flat except for the inner group `hugged`, fits together with the text up
/// to the next line end.
bool Layout::fits(std::size_t begin, std::size_t hugged, std::size_t column, std::size_t width_max,
                  const std::vector<bool>& broken) const {
  std::vector<bool> inner = {false};
  std::size_t outer = broken.size();  // the number of enclosing groups that are still open
  for (std::size_t at = begin + 1; at < commands_.size(); ++at) {
    const Command& command = commands_[at];
    const bool is_broken = inner.empty() ? broken[outer - 1] : inner.back();
    switch (command.kind) {
      case Kind::TextIfBroken:
        if (!is_broken) break;
        [[fallthrough]];
      case Kind::Text:
        column += command.width;
        if (column > width_max) return false;
        if (command.has_newline) return true;
        break;
      case Kind::Line:
        if (is_broken || command.line == Line::Hard) return true;
        if (command.line == Line::Space && ++column > width_max) return false;
        break;
      case Kind::BeginGroup:
        inner.push_back(command.breaks || is_broken || (hugged > 0 && at == hugged));
        break;
      case Kind::EndGroup:
        if (!inner.empty()) {
          inner.pop_back();
        } else if (outer > 1) {
          --outer;
        }
        break;
      case Kind::Indent:
      case Kind::Dedent:
        break;
    }
  }
  return true;
}

std::string Layout::write(std::string_view newline, std::size_t width_max) const {
  std::string out;
  std::vector<bool> broken = {true};
  std::vector<std::size_t> indents = {0};
  std::size_t column = 0;
  bool at_line_start = true;
  std::size_t hugged = 0;  // a group that is broken although the one around it is not
  for (std::size_t at = 0; at < commands_.size(); ++at) {
    const Command& command = commands_[at];
    switch (command.kind) {
      case Kind::TextIfBroken:
        if (!broken.back()) break;
        [[fallthrough]];
      case Kind::Text:
        if (at_line_start) out.append(column, ' ');
        at_line_start = false;
        out += command.text;
        column = command.has_newline ? command.last_width : column + command.width;
        break;
      case Kind::Line:
        if (!broken.back() && command.line != Line::Hard) {
          if (command.line == Line::Space) {
            out += ' ';
            ++column;
          }
          break;
        }
        out += newline;
        if (command.blank == Blank::Yes) out += newline;
        column = indents.back();
        at_line_start = true;
        break;
      case Kind::BeginGroup:
        // Inside a flat group, everything that does not break is flat too.
        if (command.breaks || !broken.back() || fits(at, 0, column, width_max, broken)) {
          broken.push_back(command.breaks || at == hugged);
        } else if (command.hugged > 0 && fits(at, command.hugged, column, width_max, broken)) {
          hugged = command.hugged;
          broken.push_back(false);
        } else {
          broken.push_back(true);
        }
        break;
      case Kind::EndGroup:
        broken.pop_back();
        break;
      case Kind::Indent:
        indents.push_back(indents.back() + (broken.back() ? indent_width : 0));
        break;
      case Kind::Dedent:
        indents.pop_back();
        break;
    }
  }
  return out;
}

}  // namespace tenon::syntax
