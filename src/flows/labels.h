#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/program.h"

/// Where values come from, before a program runs: the sources that the labels of the machine may have
/// (vm/values/labels.h). Only sources that are not trusted count; what comes from trusted ones alone has no label.
namespace tenon::flows {

/// What is not trusted: an extern, by its index in the program, or a person.
struct Source {
  static constexpr std::uint32_t person = UINT32_MAX;
  std::uint32_t callee = person;
  /// Where what is not trusted becomes trusted, for an analysis that follows this instead: an instruction of the
  /// function `callee`, which endorses a value, asks a person to approve of one, or takes a narrow answer.
  static constexpr std::uint32_t not_trusted = UINT32_MAX;
  std::uint32_t way_up = not_trusted;
  friend auto operator<=>(const Source&, const Source&) = default;
};

/// What an analysis follows.
enum class Followed : std::uint8_t {
  Untrusted,
  WaysUp,
  Trials,  ///< what is not trusted, and what might have failed because of it
};

/// A set of sources that a value's label may have; whether it certainly has one of them.
struct Label {
  std::uint32_t index = 0;  ///< twice the set's number, plus 1 if certain; 0: none

  [[nodiscard]] bool is_none() const { return index < 2; }
  [[nodiscard]] bool is_certain() const { return (index & 1U) != 0; }
  /// The same sources, none of them certain.
  [[nodiscard]] Label possible() const { return {index & ~1U}; }
  friend bool operator==(Label, Label) = default;
};

/// What carries a source on, one place after another.
enum class StepKind : std::uint8_t {
  Read,      ///< it comes in: the result of the extern's call, or what a person has said
  Injected,  ///< into a context
  Answered,  ///< a model has it before its eyes
  Decided,   ///< what follows is decided by it
  Passed,    ///< as an argument
  Returned,  ///< by the function called there
  Kept,      ///< in an agent's state or conversation
  Failed,    ///< by a failure that is handled
};

struct Step {
  StepKind kind = StepKind::Read;
  std::uint32_t function = 0;
  std::uint32_t pc = 0;
  friend auto operator<=>(const Step&, const Step&) = default;
};

/// The labels of an analysis. To find ways, a table can be `traced`: a label then also has, for each of its sources,
/// the last step of the way on which the source has come, and there are no other sources than those that are followed.
class Labels {
 public:
  Labels() = default;
  /// Follows these sources. None: knows all, without their ways.
  explicit Labels(std::span<const Source> traced) : traced_(traced.begin(), traced.end()) {}
  /// Follows what has become trusted, or what might have failed.
  explicit Labels(Followed followed) : followed_(followed) {}

  [[nodiscard]] Followed followed() const { return followed_; }
  /// The label of what becomes trusted at this place; none where other sources are followed.
  [[nodiscard]] Label way_up(std::uint32_t function, std::uint32_t pc);
  /// The label of what comes from the source at this place.
  [[nodiscard]] Label of(Source source, const Step& read);
  /// Of what is made of both. Of two ways of a source, the shorter one is kept.
  [[nodiscard]] Label join(Label a, Label b) {
    if (a == b || b.index == 0) return a;
    if (a.index == 0) return b;
    return {unite(a.index >> 1U, b.index >> 1U, Keep::Shorter) << 1U | ((a.index | b.index) & 1U)};
  }
  /// Of what is one or the other. Of two ways of a source, that of `a` is kept.
  [[nodiscard]] Label merge(Label a, Label b) {
    if (a == b) return a;
    return {unite(a.index >> 1U, b.index >> 1U, Keep::First) << 1U | (a.index & b.index & 1U)};
  }
  /// The same sources, carried on by this step.
  [[nodiscard]] Label step(Label label, const Step& step);
  /// The same sources without their ways: the label by which calls of a function are distinguished.
  [[nodiscard]] Label canonical(Label label);

  [[nodiscard]] bool is_traced() const { return !traced_.empty(); }
  /// Ascending.
  [[nodiscard]] std::span<const Source> sources_of(Label label) const { return sets_[label.index >> 1U].sources; }
  /// In a traced table: the steps of the way of one of its sources, from the first on.
  [[nodiscard]] std::vector<Step> way_of(Label label, Source source) const;

 private:
  enum class Keep : std::uint8_t { Shorter, First };
  struct Set {
    std::vector<Source> sources;        ///< ascending
    std::vector<std::uint32_t> trails;  ///< of each source in a traced table; empty: without their ways
    friend auto operator<=>(const Set&, const Set&) = default;
  };
  struct Trail {
    Step step;
    std::uint32_t before = 0;  ///< the step before; 0: it is the first
    std::uint32_t length = 0;
  };

  [[nodiscard]] std::uint32_t unite(std::uint32_t a, std::uint32_t b, Keep keep);
  [[nodiscard]] std::uint32_t intern(Set set);
  [[nodiscard]] std::uint32_t intern_trail(Source source, const Step& step, std::uint32_t before);

  std::vector<Source> traced_;
  Followed followed_ = Followed::Untrusted;
  std::vector<Set> sets_ = {{}};
  std::map<Set, std::uint32_t> numbers_ = {{{}, 0}};
  std::unordered_map<std::uint64_t, std::uint32_t> joined_, merged_;
  std::map<std::pair<std::uint32_t, Step>, std::uint32_t> stepped_;
  std::vector<Trail> trails_ = {{}};  ///< by number
  std::map<std::pair<Source, Step>, std::uint32_t> trail_numbers_;
};

}  // namespace tenon::flows
