#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

namespace tenon::types {

/// The relation of one condition to another about the same value.
enum class Relation : std::uint8_t {
  Open,         ///< neither, as far as known
  Entails,      ///< if the first is true, so is the second
  Contradicts,  ///< if the first is true, the second is false
};

/// A question about two contracts that only their texts connect: all of `given` are true for a value of type `type`;
/// is `wanted` true for it?
struct EntailmentQuestion {
  std::string type;
  std::vector<std::string> given;
  std::string wanted;
  /// The definitions of the types and functions that the texts are about, as in plan_definitions.h: with another
  /// definition, it is another question.
  std::vector<std::string> definitions = {};
  friend auto operator<=>(const EntailmentQuestion&, const EntailmentQuestion&) = default;

  /// The hash of its texts: equal questions have equal keys in every program.
  [[nodiscard]] Hash key() const;
};

/// A model's answer.
struct PlanVerdict {
  EntailmentQuestion question;
  Relation relation = Relation::Open;
  std::string reason;  ///< the model's reason, one sentence; may be empty
  std::string model;   ///< the model that was asked, as given to `--model`
  friend bool operator==(const PlanVerdict&, const PlanVerdict&) = default;
};

/// By the keys of the questions.
using PlanVerdicts = std::map<Hash, PlanVerdict>;

/// The version of the file next to a program. A file of a later version is rejected; in the first one, entries have no
/// definitions.
inline constexpr int plan_format = 2;
/// Larger files are not read.
inline constexpr std::size_t plan_bytes_max = std::size_t{8} * 1024 * 1024;

/// The name of the file with the verdicts for the program at `path`.
[[nodiscard]] std::string plan_path(const std::string& path);

struct PlanError {
  std::string message;  ///< `entry 3 has no "wanted"`
};

/// Parses such a file; an entry is valid only for exactly its texts.
[[nodiscard]] Result<PlanVerdicts, PlanError> read_plan(std::string_view text);
/// Equal verdicts have equal text: entries in the order of `wanted`, `type`, `given` and `definitions`, one field per
/// line.
[[nodiscard]] std::string write_plan(const PlanVerdicts& verdicts);

/// `entails`, `contradicts`, `open`: as in the file and in `tenon plan --format json`.
[[nodiscard]] std::string_view relation_name(Relation relation);
[[nodiscard]] std::optional<Relation> find_relation(std::string_view name);

}  // namespace tenon::types
