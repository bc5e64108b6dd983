#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::syntax {

/// Texts with possible line breaks between them, in nested groups. A group that fits on its line is written flat;
/// otherwise all its own breaks become line ends. After Oppen, "Prettyprinting" (1980), with the groups of Wadler's "A
/// prettier printer". Internal to the formatter.
class Layout {
 public:
  enum class Line : std::uint8_t {
    Soft,   ///< nothing, or a line end
    Space,  ///< a space, or a line end
    Hard,   ///< a line end, which breaks the groups around it
  };
  enum class Blank : bool { No, Yes };

  void text(std::string_view text);
  /// Only written if its group is broken.
  void text_if_broken(std::string_view text);
  void line(Line line, Blank blank);
  /// Returns the position of the group, for `end_hugging_group`.
  std::size_t begin_group();
  void end_group();
  /// Ends a group whose last element contains the group `inner`, which has ended. If that is sufficient, only the inner
  /// group is broken; hard line ends are only allowed inside the inner group.
  void end_hugging_group(std::size_t inner);
  /// One level deeper, if the enclosing group is broken.
  void indent();
  void dedent();

  /// The number of hard line ends so far.
  [[nodiscard]] std::size_t hard_count() const { return hard_count_; }
  /// The texts must still exist.
  [[nodiscard]] std::string write(std::string_view newline, std::size_t width_max) const;

 private:
  enum class Kind : std::uint8_t { Text, TextIfBroken, Line, BeginGroup, EndGroup, Indent, Dedent };
  struct Command {
    Kind kind = Kind::Text;
    Line line = Line::Soft;
    Blank blank = Blank::No;
    bool breaks = false;           ///< of a group: whether something in it breaks
    std::uint32_t hugged = 0;      ///< of a group: the inner group that can be broken instead; 0: none
    std::uint32_t width = 0;       ///< of a text: up to its first newline
    std::uint32_t last_width = 0;  ///< of a text: after its last newline, if it has one
    bool has_newline = false;
    std::string_view text;
  };

  [[nodiscard]] bool fits(std::size_t begin, std::size_t hugged, std::size_t column, std::size_t width_max,
                          const std::vector<bool>& broken) const;
  void add_text(Kind kind, std::string_view text);

  std::vector<Command> commands_;
  struct OpenGroup {
    std::size_t command = 0;
    std::size_t hard_count = 0;
  };
  std::vector<OpenGroup> open_groups_;
  std::size_t hard_count_ = 0;
};

}  // namespace tenon::syntax
