#include "algebra/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "algebra/derived_forms.h"
#include "algebra/form.h"
#include "json/text.h"
#include "json/writer.h"

namespace tenon::algebra {
namespace {

constexpr std::array<std::string_view, 11> difference_names{
    "input", "choice", "argument", "context", "request", "pause", "result", "output", "place", "tools", "control"};

/// A run's calls in one row.
struct Calls {
  Calls(const Artifacts& of, const Artifacts& shown_as) : artifacts(of), shown(shown_as) {
    for (const auto& row : of.sigma) {
      choices.insert(choices.end(), row.begin(), row.end());
      cycles.resize(choices.size(), cycle_count++);
    }
  }
  [[nodiscard]] const std::string& tool(std::size_t call) const { return artifacts.tools[choices[call].tool].name; }
  [[nodiscard]] std::size_t size() const { return choices.size(); }

  const Artifacts& artifacts;
  const Artifacts& shown;  ///< the same, with the values as they are shown
  std::vector<Choice> choices;
  std::vector<std::size_t> cycles;  ///< in which each is made
  std::size_t cycle_count = 0;
};

struct Aligned {
  std::optional<std::size_t> a, b;
};

/// A longest common sequence of [from_a, to_a) and [from_b, to_b); what is not in it is alone.
void align_middle(const Calls& a, const Calls& b, std::size_t from_a, std::size_t to_a, std::size_t from_b,
                  std::size_t to_b, std::vector<Aligned>& out) {
  const std::size_t rows = to_a - from_a;
  const std::size_t columns = to_b - from_b;
  const bool is_small = rows <= aligned_calls_max && columns <= aligned_calls_max;
  // longest[i][j]: of what is left from i and j on.
  std::vector<std::uint32_t> longest(is_small ? (rows + 1) * (columns + 1) : 0, 0);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return longest[i * (columns + 1) + j]; };
  for (std::size_t i = is_small ? rows : 0; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      cell(i, j) =
          a.tool(from_a + i) == b.tool(from_b + j) ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (is_small && i < rows && j < columns) {
    if (a.tool(from_a + i) == b.tool(from_b + j)) {
      out.push_back({from_a + i++, from_b + j++});
    } else if (cell(i + 1, j) >= cell(i, j + 1)) {
      out.push_back({from_a + i++, std::nullopt});
    } else {
      out.push_back({std::nullopt, from_b + j++});
    }
  }
  for (; i < rows; ++i) out.push_back({from_a + i, std::nullopt});
  for (; j < columns; ++j) out.push_back({std::nullopt, from_b + j});
}

std::vector<Aligned> align(const Calls& a, const Calls& b) {
  std::vector<Aligned> aligned;
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t begin = 0;
  while (begin < shorter && a.tool(begin) == b.tool(begin)) ++begin;
  std::size_t end = 0;
  while (end < shorter - begin && a.tool(a.size() - 1 - end) == b.tool(b.size() - 1 - end)) ++end;
  for (std::size_t at = 0; at < begin; ++at) aligned.push_back({at, at});
  align_middle(a, b, begin, a.size() - end, begin, b.size() - end, aligned);
  for (std::size_t at = end; at > 0; --at) aligned.push_back({a.size() - at, b.size() - at});
  return aligned;
}

std::string write_call(const Calls& calls, std::size_t call) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  add_arguments(out, calls.shown.q[call].arguments);
  out.name("tool").text(calls.tool(call)).end_object();
  return text;
}

/// The hashes of a context, first entry first; those that the table does not have end it.
std::vector<Hash> chain(const Artifacts& artifacts, Hash newest) {
  std::vector<Hash> hashes;
  for (auto at = artifacts.contexts.find(newest);
       at != artifacts.contexts.end() && hashes.size() <= artifacts.contexts.size();
       at = artifacts.contexts.find(at->second.parent)) {
    hashes.push_back(at->first);
  }
  std::reverse(hashes.begin(), hashes.end());
  return hashes;
}

std::string entry_text(const Artifacts& artifacts, const std::vector<Hash>& hashes, std::size_t at) {
  return at < hashes.size() ? make_json_string(artifacts.contexts.at(hashes[at]).text) : std::string();
}

class Comparison {
 public:
  Comparison(Calls a, Calls b) : a_(std::move(a)), b_(std::move(b)) {}

  std::vector<Difference> run() {
    const std::vector<Aligned> pairs = align(a_, b_);
    auto next = pairs.begin();
    const std::size_t cycles = std::max(a_.artifacts.h.size(), b_.artifacts.h.size());
    for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
      compare_cycle(DifferenceKind::Input, cycle);
      for (; next != pairs.end() && cycle_of(*next) <= cycle; ++next) compare_pair(*next);
      compare_cycle(DifferenceKind::Output, cycle);
    }
    std::for_each(next, pairs.end(), [&](const Aligned& pair) { compare_pair(pair); });
    if (found_.empty()) compare_order(pairs);
    if (found_.empty()) compare_tools();
    if (found_.empty()) compare_controls();
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::size_t cycle_of(const Aligned& pair) const {
    return pair.a ? a_.cycles[*pair.a] : b_.cycles[*pair.b];
  }

  void compare_pair(const Aligned& pair) {
    if (pair.a && pair.b) return compare_calls(*pair.a, *pair.b);
    add(DifferenceKind::Choice, pair, pair.a ? write_call(a_, *pair.a) : "", pair.b ? write_call(b_, *pair.b) : "");
  }

  void compare_order(const std::vector<Aligned>& pairs) {
    for (const Aligned& pair : pairs) {
      const std::string& a = a_.choices[*pair.a].at;
      const std::string& b = b_.choices[*pair.b].at;
      if (a != b) add(DifferenceKind::Place, pair, make_json_string(a), make_json_string(b));
    }
  }

  void compare_tools() {
    const auto named = [](const Artifacts& artifacts) {
      std::string text = "[";
      for (const Tool& tool : artifacts.tools) text += (text.size() > 1 ? "," : "") + write_tool(tool);
      return text + "]";
    };
    if (a_.artifacts.tools != b_.artifacts.tools) {
      add(DifferenceKind::Tools, {}, named(a_.artifacts), named(b_.artifacts));
    }
  }

  void compare_controls() {
    for (std::size_t at = 0; at < a_.artifacts.h.size(); ++at) {
      std::string a = write_control(a_.artifacts.h[at].control);
      std::string b = write_control(b_.artifacts.h[at].control);
      if (a != b) add(DifferenceKind::Control, {}, std::move(a), std::move(b)).cycle = at;
    }
  }

  Difference& add(DifferenceKind kind, const Aligned& pair, std::string a, std::string b) {
    Difference& added = found_.emplace_back();
    added.kind = kind;
    added.call_a = pair.a;
    added.call_b = pair.b;
    if (pair.a || pair.b) {
      const Calls& calls = pair.a ? a_ : b_;
      const std::size_t call = pair.a ? *pair.a : *pair.b;
      added.at = calls.choices[call].at;
      added.tool = calls.tool(call);
      added.cycle = cycle_of(pair);
    }
    added.a = std::move(a);
    added.b = std::move(b);
    return added;
  }

  void compare_cycle(DifferenceKind kind, std::size_t at) {
    const auto written = [&](const std::vector<Cycle>& cycles) -> std::string {
      if (at >= cycles.size()) return {};
      if (kind == DifferenceKind::Output) return write_output(cycles[at]);
      return write_input(cycles[at]);
    };
    if (written(a_.artifacts.h) == written(b_.artifacts.h)) return;
    add(kind, {}, written(a_.shown.h), written(b_.shown.h)).cycle = at;
  }

  void compare_calls(std::size_t call_a, std::size_t call_b) {
    const Aligned pair{call_a, call_b};
    const Query& left = a_.artifacts.q[call_a];
    const Query& right = b_.artifacts.q[call_b];
    for (std::size_t at = 0; at < std::max(left.contexts.size(), right.contexts.size()); ++at) {
      compare_contexts(pair, at < left.contexts.size() ? left.contexts[at] : Hash{},
                       at < right.contexts.size() ? right.contexts[at] : Hash{});
    }
    if (a_.choices[call_a].alternative != b_.choices[call_b].alternative) {
      add(DifferenceKind::Choice, pair, std::to_string(a_.choices[call_a].alternative),
          std::to_string(b_.choices[call_b].alternative));
    }
    const auto argument = [](const Query& query, std::size_t at) {
      return at < query.arguments.size() ? query.arguments[at] : std::string();
    };
    const Query& shown_left = a_.shown.q[call_a];
    const Query& shown_right = b_.shown.q[call_b];
    for (std::size_t at = 0; at < std::max(left.arguments.size(), right.arguments.size()); ++at) {
      if (argument(left, at) == argument(right, at)) continue;
      // A context that was passed on is its hash; its entries are reported where a model saw them.
      add(DifferenceKind::Argument, pair, argument(shown_left, at), argument(shown_right, at)).index = at;
    }
    const bool have_requests = !left.requests.empty() && !right.requests.empty();
    const bool are_like = left.contexts == right.contexts && left.arguments == right.arguments;
    if (have_requests && are_like && left.requests != right.requests) {
      add(DifferenceKind::Request, pair, write_query(shown_left), write_query(shown_right));
    }
    if (left.pauses != right.pauses) {
      add(DifferenceKind::Pause, pair, write_query(shown_left), write_query(shown_right));
    }
    if (a_.artifacts.r[call_a] != b_.artifacts.r[call_b]) {
      add(DifferenceKind::Result, pair, write_call_result(a_.shown.r[call_a]), write_call_result(b_.shown.r[call_b]));
    }
  }

  void compare_contexts(const Aligned& pair, const Hash& a, const Hash& b) {
    if (a == b) return;
    const std::vector<Hash> left = chain(a_.artifacts, a);
    const std::vector<Hash> right = chain(b_.artifacts, b);
    const auto [x, y] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
    const auto at = static_cast<std::size_t>(x - left.begin());
    if (x == left.end() && y == right.end()) return;
    add(DifferenceKind::Context, pair, entry_text(a_.artifacts, left, at), entry_text(b_.artifacts, right, at)).index =
        at;
  }

  Calls a_, b_;
  std::vector<Difference> found_;
};

}  // namespace

std::string_view difference_name(DifferenceKind kind) {
  return difference_names[static_cast<std::size_t>(kind)];
}

std::vector<Difference> compare(const Artifacts& a, const Artifacts& b) {
  return Comparison({a, a}, {b, b}).run();
}

std::vector<Difference> compare_for_people(const Interaction& a, const Interaction& b) {
  const Artifacts shown_a = in_plain_form(a);
  const Artifacts shown_b = in_plain_form(b);
  return Comparison({a.artifacts, shown_a}, {b.artifacts, shown_b}).run();
}

std::string describe(const Difference& difference) {
  std::string text(difference_name(difference.kind));
  if (difference.cycle > 0) text = fmt::format("turn {}: {}", difference.cycle + 1, text);
  if (difference.kind == DifferenceKind::Argument) text += fmt::format(" {}", difference.index + 1);
  if (difference.kind == DifferenceKind::Context) text += fmt::format(" entry {}", difference.index + 1);
  if (!difference.tool.empty()) {
    const auto number = [](const std::optional<std::size_t>& call) {
      return call ? std::to_string(*call + 1) : std::string("-");
    };
    text += fmt::format(" of `{}` at {} (call {} / {})", difference.tool, difference.at, number(difference.call_a),
                        number(difference.call_b));
  }
  return text + fmt::format("\n  a: {}\n  b: {}\n", difference.a.empty() ? "-" : difference.a,
                            difference.b.empty() ? "-" : difference.b);
}

std::string write_differences(const std::vector<Difference>& differences) {
  std::string text;
  JsonWriter out(text);
  const auto add_side = [&](std::string_view name, const std::string& json) {
    out.name(name);
    json.empty() ? out.null() : out.raw(json);
  };
  out.begin_object().name("differences").begin_list();
  for (const Difference& difference : differences) {
    out.begin_object();
    add_side("a", difference.a);
    if (!difference.at.empty()) out.name("at").text(difference.at);
    add_side("b", difference.b);
    if (difference.call_a) out.name("call_a").integer(*difference.call_a + 1);
    if (difference.call_b) out.name("call_b").integer(*difference.call_b + 1);
    const bool has_index = difference.kind == DifferenceKind::Argument || difference.kind == DifferenceKind::Context;
    if (has_index) out.name("index").integer(difference.index + 1);
    if (!difference.tool.empty()) out.name("tool").text(difference.tool);
    out.name("turn").integer(difference.cycle + 1).name("what").text(difference_name(difference.kind)).end_object();
  }
  out.end_list().name("same").boolean(differences.empty()).end_object();
  return text;
}

}  // namespace tenon::algebra
