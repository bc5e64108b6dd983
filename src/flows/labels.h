#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bytecode/program.h"

/// Where values come from, before a program runs: the sources that the labels of the machine may have
/// (vm/values/labels.h). Only sources that are not trusted count; what comes from trusted ones alone has no label.
namespace tenon::flows {

/// What is not trusted: an extern, by its index in the program, or a person.
struct Source {
  static constexpr std::uint32_t person = UINT32_MAX;
  std::uint32_t callee = person;
  friend auto operator<=>(const Source&, const Source&) = default;
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

/// The labels of an analysis. To find one way of one source, a table can be `traced`: it then knows no other source,
/// and a label is the last step of the way on which the source has come.
class Labels {
 public:
  Labels() = default;
  /// Follows this source alone.
  explicit Labels(Source traced) : traced_(traced) {}

  /// The label of what comes from the source at this place.
  [[nodiscard]] Label of(Source source, Step read);
  /// Of what is made of both.
  [[nodiscard]] Label join(Label a, Label b) {
    if (a == b || b.index == 0) return a;
    if (a.index == 0) return b;
    return {unite(a.index >> 1U, b.index >> 1U) << 1U | ((a.index | b.index) & 1U)};
  }
  /// Of what is one or the other. Where a source is traced, the way of `a` is kept.
  [[nodiscard]] Label merge(Label a, Label b) {
    if (a == b) return a;
    const std::uint32_t certain = a.index & b.index & 1U;
    if (traced_) return {((a.is_none() ? b.index : a.index) & ~1U) | certain};
    return {unite(a.index >> 1U, b.index >> 1U) << 1U | certain};
  }
  /// The same sources, carried on by this step.
  [[nodiscard]] Label step(Label label, Step step);
  /// The label by which calls of a function are distinguished: where a source is traced, whether it has it.
  [[nodiscard]] Label canonical(Label label) const {
    return traced_ && !label.is_none() ? Label{2U | (label.index & 1U)} : label;
  }

  [[nodiscard]] bool is_traced() const { return traced_.has_value(); }
  /// Ascending.
  [[nodiscard]] std::span<const Source> sources_of(Label label) const { return sets_[label.index >> 1U]; }
  /// Where a source is traced: the steps of its way, from the first on.
  [[nodiscard]] std::vector<Step> way_of(Label label) const;

 private:
  struct Trail {
    Step step;
    std::uint32_t before = 0;  ///< the step before; 0: it is the first
    std::uint32_t length = 0;
  };

  [[nodiscard]] std::uint32_t unite(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] std::uint32_t intern(std::vector<Source> set);
  [[nodiscard]] std::uint32_t intern(const Step& step, std::uint32_t before);

  std::vector<std::vector<Source>> sets_ = {{}};
  std::map<std::vector<Source>, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> unions_;
  std::optional<Source> traced_;
  std::vector<Trail> trails_ = {{}, {}};  ///< by number; steps begin with the third
  std::map<Step, std::uint32_t> trail_numbers_;
};

}  // namespace tenon::flows
