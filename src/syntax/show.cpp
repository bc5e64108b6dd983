#include "syntax/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/utf8.h"

namespace tenon::syntax {
namespace {

/// Longer texts are truncated; the positions show where they end.
constexpr std::size_t shown_bytes_max = 60;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  std::size_t shown = 0;
  for (; shown < text.size(); ++shown) {
    const auto byte = static_cast<unsigned char>(text[shown]);
    if (shown >= shown_bytes_max && !is_utf8_continuation(text[shown])) break;
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\r') {
      out += "\\r";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[shown];
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{{{:x}}}", byte);
    } else {
      out += text[shown];
    }
    if (shown > shown_bytes_max + 4) break;  // bytes that are not characters
  }
  out += shown < text.size() ? "\"…" : "\"";
  return out;
}

/// The position of each token. One pass: `SourceFile::position` counts the characters of a line again each time.
std::vector<source::Position> token_positions(const SyntaxTree& tree) {
  std::vector<source::Position> positions;
  positions.reserve(tree.tokens.size());
  source::Position position;
  for (TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    positions.push_back(position);
    const std::string_view text = tree.text(at);
    const std::size_t newline = text.rfind('\n');
    if (newline == std::string_view::npos) {
      position.column += static_cast<std::uint32_t>(count_code_points(text));
    } else {
      position.line += static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
      position.column = 1 + static_cast<std::uint32_t>(count_code_points(text.substr(newline + 1)));
    }
  }
  return positions;
}

class TreePrinter {
 public:
  explicit TreePrinter(const SyntaxTree& tree) : tree_(tree), positions_(token_positions(tree)) {}

  std::string run() {
    append(tree_.root, 0);
    return std::move(out_);
  }

 private:
  void append(NodeId id, std::size_t depth) {
    const Node& node = tree_[id];
    const source::Position start = positions_[node.first_token];
    // There are no gaps between tokens: each ends where the next begins, and `End` follows the last.
    const source::Position end = positions_[std::min<std::size_t>(node.end_token, positions_.size() - 1)];
    out_.append(2 * depth, ' ');
    out_ += fmt::format("{} {}:{}-{}:{}", name_of(node.kind), start.line, start.column, end.line, end.column);
    if (node.main_token != node.first_token) {
      out_ += ' ' + quoted(tree_.main_text(id));
    } else if (!node.first_child.exists()) {
      out_ += ' ' + quoted(tree_.text(id));
    }
    out_ += '\n';
    for (NodeId child = tree_.first(id); child.exists(); child = tree_.next(child)) append(child, depth + 1);
  }

  const SyntaxTree& tree_;
  std::vector<source::Position> positions_;
  std::string out_;
};

}  // namespace

std::string show_tokens(const SyntaxTree& tree) {
  const std::vector<source::Position> positions = token_positions(tree);
  std::string out;
  for (TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    out += fmt::format("{}:{} {} {}\n", positions[at].line, positions[at].column, name_of(tree.tokens[at].kind),
                       quoted(tree.text(at)));
  }
  return out;
}

std::string show_tree(const SyntaxTree& tree) {
  return TreePrinter(tree).run();
}

}  // namespace tenon::syntax
