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

/// What one condition says of another about the same value.
enum class Relation : std::uint8_t {
  Open,         ///< either may be, as far as can be told
  Entails,      ///< where the first holds, the second does
  Contradicts,  ///< where the first holds, the second does not
};

/// What is asked about two contracts that only words connect: of a value of the type `type` all of `given` hold; does
/// `wanted` hold of it?
struct EntailmentQuestion {
  std::string type;
  std::vector<std::string> given;
  std::string wanted;
  friend auto operator<=>(const EntailmentQuestion&, const EntailmentQuestion&) = default;

  /// Of its words: equal questions have equal keys in every program.
  [[nodiscard]] Hash key() const;
};

/// What a model has answered.
struct PlanVerdict {
  EntailmentQuestion question;
  Relation relation = Relation::Open;
  std::string reason;  ///< the model's, in a sentence; may be empty
  std::string model;   ///< who was asked, as `--model` names it
  friend bool operator==(const PlanVerdict&, const PlanVerdict&) = default;
};

/// By the questions' keys.
using PlanVerdicts = std::map<Hash, PlanVerdict>;

/// Of the file beside a program. A file of a later format is refused.
inline constexpr int plan_format = 1;
/// Larger ones are not read.
inline constexpr std::size_t plan_bytes_max = std::size_t{8} * 1024 * 1024;

/// The name of the file in which the verdicts of the program at `path` are kept.
[[nodiscard]] std::string plan_path(const std::string& path);

struct PlanError {
  std::string message;  ///< `entry 3 has no "wanted"`
};

/// Reads such a file; an entry counts for exactly the words that stand in it.
[[nodiscard]] Result<PlanVerdicts, PlanError> read_plan(std::string_view text);
/// The same verdicts give the same text: entries in the order of `wanted`, `type` and `given`, a field a line.
[[nodiscard]] std::string write_plan(const PlanVerdicts& verdicts);

/// `entails`, `contradicts`, `open`: as the file, and `tenon plan --format json`, have it.
[[nodiscard]] std::string_view relation_name(Relation relation);
[[nodiscard]] std::optional<Relation> find_relation(std::string_view name);

}  // namespace tenon::types
