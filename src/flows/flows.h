#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/program.h"
#include "flows/labels.h"

/// Before a program runs: whether what its calls of externs that act depend on is trusted, on every way. The machine
/// tests it before each of these calls (docs/language/23-trust.md); what is proved here, it never refuses.
namespace tenon::flows {

enum class Verdict : std::uint8_t {
  Proved,   ///< what is not trusted cannot reach it
  Tested,   ///< it may: the run decides
  Refused,  ///< it always does
  Asked,    ///< it may: a person is asked then, and the call is not refused
};
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

/// What must be trusted.
enum class Subject : std::uint8_t {
  Call,       ///< that an extern is called
  Parameter,  ///< what one of its parameters gets
  Value,      ///< a value that is tested for itself: of a parameter or a result of a function
};

/// Where something becomes trusted that decides it.
struct WayUp {
  enum class Kind : std::uint8_t {
    Narrow,    ///< a narrow answer of a model
    Endorsed,  ///< the program answers for it
    Approved,  ///< a person is asked to approve of it
  };
  Kind kind = Kind::Narrow;
  bytecode::Place place;
  std::string name;        ///< Narrow: the function that the model completes; Endorsed: why, as the program says
  std::uint32_t bits = 0;  ///< Narrow: that an answer costs
  friend bool operator==(const WayUp&, const WayUp&) = default;
};
/// `narrow`, `endorsed`, `approved`.
[[nodiscard]] std::string_view way_up_name(WayUp::Kind kind);

struct Finding {
  Subject subject = Subject::Call;
  std::uint16_t parameter = 0;  ///< of the extern
  std::string what;             ///< as a failure names it: `` `to` of `send_mail` ``
  std::string name;             ///< `send_mail.to`; `send_mail` for its call
  Verdict verdict = Verdict::Proved;
  std::vector<Source> sources = {};  ///< that may reach it, ascending
  std::vector<Step> way = {};        ///< of one of them, a short one, from where it comes in; the places are in order
  std::vector<WayUp> ways_up = {};   ///< by place; of add_ways_up
};

/// A call of an extern that acts, or the test of a value, written at one place.
struct Sink {
  std::uint32_t function = 0;  ///< one that contains it
  std::uint32_t pc = 0;
  std::string name;               ///< of the extern, or the function whose value is tested
  bool is_reached = false;        ///< whether a run can come to it
  std::vector<Finding> findings;  ///< at least one; of a call first that it is made
};

/// How runs begin.
struct Assumptions {
  bool persons_arguments = false;  ///< a person gives the arguments of a run, as over HTTP, not the operator
};

/// Whether the program has an extern that acts, or tests a value.
[[nodiscard]] bool has_sinks(const bytecode::Program& program);
/// All sinks by their places. `program` passes the verifier.
[[nodiscard]] std::vector<Sink> find_flows(const bytecode::Program& program, Assumptions assumptions = {});

/// Adds to each finding of find_flows what on the ways to it becomes trusted.
void add_ways_up(const bytecode::Program& program, std::vector<Sink>& sinks, Assumptions assumptions = {});

/// Where an instruction is in the source.
[[nodiscard]] bytecode::Place place_of(const bytecode::Program& program, std::uint32_t function, std::uint32_t pc);
/// `extern read_inbox`, `person`.
[[nodiscard]] std::string describe(const bytecode::Program& program, Source source);
/// What happens at a step: `a model answers with it before its eyes`.
[[nodiscard]] std::string describe(const bytecode::Program& program, const Step& step);
/// `read`, `answered`.
[[nodiscard]] std::string_view step_name(StepKind kind);

}  // namespace tenon::flows
