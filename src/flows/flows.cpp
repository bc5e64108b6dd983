#include "flows/flows.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "flows/program_analysis.h"

namespace tenon::flows {
namespace {

bool is_test(const bytecode::Program& program, std::uint32_t function) {
  return std::ranges::any_of(program.tests, [&](const auto& test) { return test.function == function; });
}

/// A sink is written at one place, and may be in several functions: in each instance of a generic one.
using SinkPlace = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint16_t, std::uint32_t>;

SinkPlace sink_place(const bytecode::Program& program, std::uint32_t function, std::uint32_t pc) {
  const bytecode::Place place = place_of(program, function, pc);
  const bytecode::Instruction i = program.functions[function].code[pc];
  return {place.file, place.line, place.column, i.opcode, i.wide()};
}

Sink make_call(const bytecode::Extern& callee, std::uint32_t function, std::uint32_t pc) {
  Sink sink{function, pc, callee.name, false, {}};
  sink.findings.push_back({Subject::Call, 0, "whether `" + callee.name + "` is called", callee.name});
  for (const std::uint16_t parameter : callee.trusted_parameters) {
    const std::string& name = callee.parameter_names[parameter];
    sink.findings.push_back(
        {Subject::Parameter, parameter, "`" + name + "` of `" + callee.name + "`", callee.name + "." + name});
  }
  return sink;
}

Sink make_test(const bytecode::Program& program, std::uint32_t constant, std::uint32_t function, std::uint32_t pc) {
  const std::string& owner = program.functions[function].name;
  const std::string what = std::get<std::string>(program.constants[constant]);
  // A parameter is named first.
  const std::string parameter = what.starts_with('`') ? what.substr(1, what.find('`', 1) - 1) : std::string();
  Sink sink{function, pc, owner, false, {}};
  sink.findings.push_back({Subject::Value, 0, what, parameter.empty() ? owner : owner + "." + parameter});
  return sink;
}

/// Those of the functions that are not tests.
std::map<SinkPlace, Sink> find_sinks(const bytecode::Program& program) {
  std::map<SinkPlace, Sink> sinks;
  for (std::uint32_t index = 0; index < program.functions.size(); ++index) {
    const bytecode::Function& function = program.functions[index];
    if (is_test(program, index)) continue;
    for (std::uint32_t pc = 0; pc < function.code.size(); ++pc) {
      const bytecode::Instruction i = function.code[pc];
      const auto opcode = static_cast<bytecode::Opcode>(i.opcode);
      if (opcode == bytecode::Opcode::CallExtern && bytecode::acts(program.externs[i.wide()])) {
        sinks.emplace(sink_place(program, index, pc), make_call(program.externs[i.wide()], index, pc));
      } else if (opcode == bytecode::Opcode::RequireTrusted) {
        sinks.emplace(sink_place(program, index, pc), make_test(program, i.wide(), index, pc));
      }
    }
  }
  return sinks;
}

/// The labels of what must be trusted, as the sink's findings.
Label label_of(const SinkVisit& visit, const Finding& finding, std::size_t index) {
  if (finding.subject == Subject::Call) return visit.control;
  return visit.values[finding.subject == Subject::Value ? 0 : index - 1];
}

/// Whether a person is asked instead of a refusal.
bool asks(const bytecode::Program& program, const SinkVisit& visit) {
  const bytecode::Instruction i = program.functions[visit.function].code[visit.pc];
  const bool is_call = static_cast<bytecode::Opcode>(i.opcode) == bytecode::Opcode::CallExtern;
  return is_call && program.externs[i.wide()].approval != bytecode::no_extern;
}

Verdict verdict_of(Label label, bool is_asked) {
  if (label.is_none()) return Verdict::Proved;
  if (is_asked) return Verdict::Asked;
  return label.is_certain() ? Verdict::Refused : Verdict::Tested;
}

/// Of two calls at one place.
Verdict verdict_of_both(Verdict a, Verdict b) {
  if (a == b) return a;
  return a == Verdict::Asked || b == Verdict::Asked ? Verdict::Asked : Verdict::Tested;
}

void add_visit(const bytecode::Program& program, Sink& sink, const SinkVisit& visit, const Labels& labels) {
  for (std::size_t at = 0; at < sink.findings.size(); ++at) {
    Finding& finding = sink.findings[at];
    const Label label = label_of(visit, finding, at);
    const Verdict verdict = verdict_of(label, asks(program, visit));
    finding.verdict = sink.is_reached ? verdict_of_both(finding.verdict, verdict) : verdict;
    const auto sources = labels.sources_of(label);
    std::vector<Source> all;
    std::ranges::set_union(finding.sources, sources, std::back_inserter(all));
    finding.sources = std::move(all);
  }
  sink.is_reached = true;
}

WayUp make_way_up(const bytecode::Program& program, const Source& source) {
  const bytecode::Function& function = program.functions[source.callee];
  const bytecode::Instruction i = function.code[source.way_up];
  WayUp way_up{WayUp::Kind::Approved, place_of(program, source.callee, source.way_up), {}, 0};
  switch (static_cast<bytecode::Opcode>(i.opcode)) {
    case bytecode::Opcode::Complete:
      way_up.kind = WayUp::Kind::Narrow;
      way_up.name = function.name;
      way_up.bits = program.sites[i.wide()].narrow_bits.value_or(0);
      break;
    case bytecode::Opcode::Endorse:
      way_up.kind = WayUp::Kind::Endorsed;
      way_up.name = std::get<std::string>(program.constants[i.wide()]);
      break;
    default:
      break;
  }
  return way_up;
}

/// The sources of findings that have no way yet, those of most of them first.
std::vector<Source> wanted_sources(const std::map<SinkPlace, Sink>& sinks) {
  std::map<Source, std::size_t> wanted;
  for (const auto& [place, sink] : sinks) {
    for (const Finding& finding : sink.findings) {
      if (!finding.way.empty()) continue;
      for (const Source source : finding.sources) ++wanted[source];
    }
  }
  std::vector<Source> sources;
  for (const auto& [source, count] : wanted) sources.push_back(source);
  std::ranges::stable_sort(sources, std::greater<>(), [&](Source source) { return wanted[source]; });
  return sources;
}

/// Adds to each finding the way on which one of its sources comes there, the first of `followed` that does. With few
/// sources, each is known more exactly: those that do not reach a finding are removed from it.
void add_ways(const ProgramFacts& facts, Assumptions assumptions, std::span<const Source> followed,
              std::map<SinkPlace, Sink>& sinks) {
  ProgramAnalysis analysis(facts, assumptions, followed);
  analysis.run();
  struct Way {
    std::vector<Step> steps;
    std::size_t rank = 0;  ///< of its source in `followed`
  };
  std::map<const Finding*, std::set<Source>> reached;
  std::map<const Finding*, Way> ways;
  for (const SinkVisit& visit : analysis.sinks()) {
    const auto found = sinks.find(sink_place(facts.program(), visit.function, visit.pc));
    if (found == sinks.end()) continue;
    for (std::size_t at = 0; at < found->second.findings.size(); ++at) {
      const Finding& finding = found->second.findings[at];
      const Label label = label_of(visit, finding, at);
      for (std::size_t rank = 0; rank < followed.size(); ++rank) {
        const Source source = followed[rank];
        if (!std::ranges::binary_search(analysis.labels().sources_of(label), source)) continue;
        if (!std::ranges::binary_search(finding.sources, source)) continue;
        reached[&finding].insert(source);
        std::vector<Step> steps = analysis.labels().way_of(label, source);
        Way& known = ways[&finding];
        const bool is_better =
            known.steps.empty() || rank < known.rank || (rank == known.rank && steps.size() < known.steps.size());
        if (is_better) known = {std::move(steps), rank};
      }
    }
  }
  for (auto& [place, sink] : sinks) {
    for (Finding& finding : sink.findings) {
      std::erase_if(finding.sources, [&](Source source) {
        return std::ranges::find(followed, source) != followed.end() && !reached[&finding].contains(source);
      });
      if (finding.sources.empty()) finding.verdict = Verdict::Proved;
      if (finding.way.empty()) finding.way = std::move(ways[&finding].steps);
    }
  }
}

}  // namespace

bool has_sinks(const bytecode::Program& program) {
  const auto tests_value = [](const bytecode::Function& function) {
    return std::ranges::any_of(function.code, [](const bytecode::Instruction& i) {
      return static_cast<bytecode::Opcode>(i.opcode) == bytecode::Opcode::RequireTrusted;
    });
  };
  return std::ranges::any_of(program.externs, bytecode::acts) || std::ranges::any_of(program.functions, tests_value);
}

std::vector<Sink> find_flows(const bytecode::Program& program, Assumptions assumptions) {
  if (!has_sinks(program)) return {};
  std::map<SinkPlace, Sink> sinks = find_sinks(program);
  if (sinks.empty()) return {};
  const ProgramFacts facts(program);
  ProgramAnalysis analysis(facts, assumptions, {});
  analysis.run();
  for (const SinkVisit& visit : analysis.sinks()) {
    const auto found = sinks.find(sink_place(program, visit.function, visit.pc));
    if (found != sinks.end()) add_visit(program, found->second, visit, analysis.labels());
  }
  // Where nothing was taken as one, all sources are known as exactly together as each alone.
  for (;;) {
    const std::vector<Source> wanted = wanted_sources(sinks);
    if (wanted.empty()) break;
    add_ways(facts, assumptions, analysis.has_widened() ? std::span(wanted).first(1) : std::span(wanted), sinks);
  }
  std::vector<Sink> all;
  for (auto& [place, sink] : sinks) all.push_back(std::move(sink));
  return all;
}

void add_ways_up(const bytecode::Program& program, std::vector<Sink>& sinks, Assumptions assumptions) {
  std::map<SinkPlace, Sink*> by_place;
  for (Sink& sink : sinks) by_place.emplace(sink_place(program, sink.function, sink.pc), &sink);
  const ProgramFacts facts(program);
  ProgramAnalysis analysis(facts, assumptions, Followed::WaysUp);
  analysis.run();
  for (const SinkVisit& visit : analysis.sinks()) {
    const auto found = by_place.find(sink_place(program, visit.function, visit.pc));
    if (found == by_place.end()) continue;
    std::size_t index = 0;
    for (Finding& finding : found->second->findings) {
      for (const Source& source : analysis.labels().sources_of(label_of(visit, finding, index))) {
        const WayUp way_up = make_way_up(program, source);
        // An instance of a generic function has it at the same place.
        if (std::ranges::find(finding.ways_up, way_up) == finding.ways_up.end()) finding.ways_up.push_back(way_up);
      }
      ++index;
    }
  }
  for (Sink& sink : sinks) {
    for (Finding& finding : sink.findings) {
      std::ranges::sort(finding.ways_up, {}, [](const WayUp& one) {
        return std::tuple(one.place.file, one.place.line, one.place.column, one.name);
      });
    }
  }
}

bytecode::Place place_of(const bytecode::Program& program, std::uint32_t function, std::uint32_t pc) {
  const bytecode::Function& owner = program.functions[function];
  const auto next = std::ranges::upper_bound(owner.lines, pc, {}, &bytecode::LineEntry::pc);
  return next == owner.lines.begin() ? owner.place : std::prev(next)->place;
}

}  // namespace tenon::flows
