#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::vm {

/// The origin of a value: an interned set of sources, an index into the run's LabelTable. 0, the default, is the
/// program's own text: nothing from outside.
struct LabelId {
  std::uint32_t index = 0;
  friend constexpr bool operator==(LabelId, LabelId) = default;
};

/// The numbers are stored in snapshots and are never reused.
enum class SourceKind : std::uint8_t {
  Argument = 0,  ///< an argument of the run; name: the parameter
  Person = 1,    ///< what a person said or answered; name: the person, or empty
  Model = 2,     ///< a model's answer; name: empty
  Extern = 3,    ///< the result of an extern; name: the extern
  Unknown = 4,   ///< recorded by a version that did not keep where it came from; name: empty
  Endorsed = 5,  ///< the program answers for it; name: why
  Approved = 6,  ///< a person has seen this very value and said yes; name: empty
  Narrow = 7,    ///< a narrow answer of a model; name: the function that it completes
};
inline constexpr std::uint8_t source_kind_count = 8;

struct Source {
  SourceKind kind = SourceKind::Argument;
  std::string name;
  friend auto operator<=>(const Source&, const Source&) = default;
};

/// The labels of one run. Ids are assigned in the order of first use, so equal runs have equal ids.
class LabelTable {
 public:
  static constexpr LabelId program_text{0};
  /// When this many sets exist, a join that would create another returns the set of all sources, which is always
  /// correct but imprecise.
  static constexpr std::uint32_t labels_max = 65'536;

  LabelTable();

  /// The label of a single source.
  LabelId intern(const Source& source);
  /// The union of both sets. In a loop, most are equal: never a call then.
  [[nodiscard, gnu::always_inline]] LabelId join(LabelId a, LabelId b) {
    if (a == b || b.index == 0) return a;
    if (a.index == 0) return b;
    const Joined& known = recent_[slot_of(a, b)];
    return known.a == a && known.b == b ? known.both : join_different(a, b);
  }

  /// Indices into `sources()`, ascending.
  [[nodiscard]] std::span<const std::uint32_t> sources_of(LabelId label) const { return labels_[label.index]; }
  [[nodiscard]] const std::vector<Source>& sources() const { return sources_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(labels_.size()); }
  [[nodiscard]] bool contains(LabelId label) const { return label.index < labels_.size(); }
  /// For people: `model, extern fetch`; `program` for the program's own text.
  [[nodiscard]] std::string describe(LabelId label) const;

  /// Rebuilds a table from its parts. False, without a change, if they are not the parts of a table.
  bool restore(std::vector<Source> sources, std::vector<std::vector<std::uint32_t>> labels);

 private:
  struct Joined {
    LabelId a, b, both;
  };
  /// A loop joins the same few labels again and again.
  static constexpr std::uint32_t recent_joins = 16;
  [[nodiscard]] static constexpr std::uint32_t slot_of(LabelId a, LabelId b) {
    return (a.index + 5 * b.index) % recent_joins;
  }

  LabelId join_different(LabelId a, LabelId b);
  LabelId intern_set(std::vector<std::uint32_t> set);

  std::vector<Source> sources_;
  std::vector<std::vector<std::uint32_t>> labels_;
  std::map<Source, std::uint32_t> source_index_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> label_index_;
  std::unordered_map<std::uint64_t, std::uint32_t> joins_;
  std::array<Joined, recent_joins> recent_{};
};

[[nodiscard]] std::string_view source_kind_name(SourceKind kind);
/// `extern fetch`, `person`
[[nodiscard]] std::string describe(const Source& source);

}  // namespace tenon::vm
