#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

namespace tenon::test {

/// Generates unusual programs that the grammar allows: every construct inside every other, with spaces, line ends and
/// comments in every possible position. Names and types are meaningless. The same seed gives the same program.
class ProgramGenerator {
 public:
  explicit ProgramGenerator(std::uint32_t seed) : random_(seed) {}
  [[nodiscard]] std::string generate();

 private:
  enum class Newlines : bool { End, Allowed };

  [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
  [[nodiscard]] bool chance(std::size_t one_in) { return below(one_in) == 0; }
  [[nodiscard]] bool deep() const { return depth_ > 5; }
  std::string_view pick(std::initializer_list<std::string_view> words);

  void put(std::string_view token);
  /// A token with the next one on its line: a member is on the line of its dot.
  void put_on_line(std::string_view token);
  void space();
  void end_line();
  void name() { put(pick({"a", "b2", "long_name_of_something", "ctx", "_x", "model", "agent", "state"})); }
  void type_name() { put(pick({"i32", "String", "Analysis", "List", "Mood"})); }

  void item();
  void function();
  void parameters();
  void fields();
  void agent();
  void state();
  void agent_block();
  void agent_blocks();
  void block_part();
  void target();
  void cases();
  void test();
  void type();
  void pattern();
  void block();
  void statement();
  void if_else();
  void arms(std::string_view keyword);
  void expression();
  void operand();
  void head();
  void condition();
  void call_arguments();
  void string();
  void budget();
  /// `open`, elements with commas, optionally one after the last, `close`.
  template <class Element>
  void list(std::string_view open, std::string_view close, std::size_t count_max, Element element);

  std::mt19937 random_;
  std::string out_;
  std::size_t depth_ = 0;
  std::size_t comments_ = 0;
  Newlines newlines_ = Newlines::End;
  bool struct_literals_ = true;
  bool in_template_ = false;
};

}  // namespace tenon::test
