#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "cli/commands.h"
#include "cli/diagnostics_output.h"
#include "compiler/compile.h"
#include "diagnostics/nearest.h"
#include "engine/program.h"
#include "flows/flows.h"
#include "flows/trials.h"
#include "json/json.h"
#include "types/check.h"

namespace tenon::cli {
namespace {

using flows::Finding;
using flows::Sink;

std::string describe_place(const bytecode::Program& program, const bytecode::Place& place) {
  return fmt::format("{}:{}:{}", program.sources[place.file].path, place.line, place.column);
}

std::string describe_sources(const bytecode::Program& program, const std::vector<flows::Source>& sources) {
  std::string text;
  for (const flows::Source& source : sources) {
    if (!text.empty()) text += " and ";
    text += flows::describe(program, source);
  }
  return text;
}

/// `proved`, `tested: may depend on extern read_inbox`, `refused: depends on person`.
std::string describe_verdict(const bytecode::Program& program, const Sink& sink, const Finding& finding) {
  if (!sink.is_reached) return "proved: no run comes to it";
  std::string text(flows::verdict_name(finding.verdict));
  if (finding.verdict == flows::Verdict::Proved) return text;
  if (finding.verdict == flows::Verdict::Refused) {
    text += ": depends on ";
  } else {
    text += finding.verdict == flows::Verdict::Asked ? ": a person decides if it depends on " : ": may depend on ";
  }
  return text + describe_sources(program, finding.sources);
}

/// `narrow answer of desk, 1 bit`
std::string describe_way_up(const flows::WayUp& way_up) {
  switch (way_up.kind) {
    case flows::WayUp::Kind::Narrow:
      return fmt::format("narrow answer of `{}`, {}", way_up.name, counted(way_up.bits, "bit"));
    case flows::WayUp::Kind::Endorsed:
      return fmt::format("endorsed, because {}", way_up.name);
    case flows::WayUp::Kind::Approved:
      return "approved by a person";
  }
  return "";
}

void write_text(const bytecode::Program& program, const std::vector<Sink>& sinks, const Environment& environment) {
  for (const Sink& sink : sinks) {
    const std::string place = describe_place(program, flows::place_of(program, sink.function, sink.pc));
    environment.write_output(fmt::format("{}: `{}`\n", place, sink.name));
    for (const Finding& finding : sink.findings) {
      const std::string what =
          finding.subject == flows::Subject::Call ? std::string("whether it is called") : finding.what;
      environment.write_output(fmt::format("  {}: {}\n", what, describe_verdict(program, sink, finding)));
      for (const flows::Step& step : finding.way) {
        environment.write_output(fmt::format("    {}: {}\n",
                                             describe_place(program, flows::place_of(program, step.function, step.pc)),
                                             flows::describe(program, step)));
      }
      for (const flows::WayUp& way_up : finding.ways_up) {
        environment.write_output(
            fmt::format("    trusted since {}: {}\n", describe_place(program, way_up.place), describe_way_up(way_up)));
      }
    }
  }
}

void write_text(const bytecode::Program& program, const std::vector<flows::Trial>& trials,
                const Environment& environment) {
  for (const flows::Trial& trial : trials) {
    const std::string bits = trial.bits ? "at most " + counted(*trial.bits, "bit") + " each time"
                                        : "a bit each time, and more with the number of its calls that act";
    environment.write_output(
        fmt::format("{}: what is tried may cost {}\n", describe_place(program, trial.place), bits));
    for (const flows::MayFail& one : trial.may_fail) {
      environment.write_output(fmt::format("  {}: it may fail because of {}\n", describe_place(program, one.place),
                                           describe_sources(program, one.sources)));
    }
  }
}

Json place_to_json(const bytecode::Program& program, const bytecode::Place& place) {
  return Json::object()
      .set("file", program.sources[place.file].path)
      .set("line", place.line)
      .set("column", place.column);
}

Json to_json(const bytecode::Program& program, const std::vector<flows::Source>& sources) {
  Json list = Json::array();
  for (const flows::Source& source : sources) list.push_back(flows::describe(program, source));
  return list;
}

Json to_json(const bytecode::Program& program, const flows::Trial& trial) {
  Json may_fail = Json::array();
  for (const flows::MayFail& one : trial.may_fail) {
    may_fail.push_back(place_to_json(program, one.place).set("sources", to_json(program, one.sources)));
  }
  return place_to_json(program, trial.place)
      .set("trial",
           Json::object().set("bits", trial.bits ? Json(*trial.bits) : Json()).set("may_fail", std::move(may_fail)));
}

Json to_json(const bytecode::Program& program, const Finding& finding) {
  Json way = Json::array();
  for (const flows::Step& step : finding.way) {
    way.push_back(place_to_json(program, flows::place_of(program, step.function, step.pc))
                      .set("kind", std::string(flows::step_name(step.kind)))
                      .set("text", flows::describe(program, step)));
  }
  Json ways_up = Json::array();
  for (const flows::WayUp& way_up : finding.ways_up) {
    Json one = place_to_json(program, way_up.place).set("kind", std::string(flows::way_up_name(way_up.kind)));
    if (way_up.kind == flows::WayUp::Kind::Narrow) one.set("function", way_up.name).set("bits", way_up.bits);
    if (way_up.kind == flows::WayUp::Kind::Endorsed) one.set("why", way_up.name);
    ways_up.push_back(std::move(one));
  }
  return Json::object()
      .set("name", finding.name)
      .set("verdict", std::string(flows::verdict_name(finding.verdict)))
      .set("sources", to_json(program, finding.sources))
      .set("way", std::move(way))
      .set("ways_up", std::move(ways_up));
}

void write_json(const bytecode::Program& program, const std::vector<Sink>& sinks,
                const std::vector<flows::Trial>& trials, const Environment& environment) {
  Json all = Json::array();
  for (const Sink& sink : sinks) {
    Json findings = Json::array();
    for (const Finding& finding : sink.findings) findings.push_back(to_json(program, finding));
    all.push_back(place_to_json(program, flows::place_of(program, sink.function, sink.pc))
                      .set("name", sink.name)
                      .set("is_reached", sink.is_reached)
                      .set("findings", std::move(findings)));
  }
  for (const flows::Trial& trial : trials) all.push_back(to_json(program, trial));
  environment.write_output(all.dump() + "\n");
}

/// Keeps what is named: `send_mail` with all that must be trusted of it, or `send_mail.to`. Returns the names of all
/// when there is nothing of that name.
std::vector<std::string> keep_named(const std::string& name, std::vector<Sink>& sinks) {
  std::vector<std::string> names;
  for (Sink& sink : sinks) {
    if (sink.name == name) continue;
    std::erase_if(sink.findings, [&](const Finding& finding) {
      names.push_back(finding.name);
      return names.back() != name;
    });
  }
  std::erase_if(sinks, [](const Sink& sink) { return sink.findings.empty(); });
  return sinks.empty() ? names : std::vector<std::string>();
}

}  // namespace

int explain_flow(const ExplainFlowCommand& command, const Environment& environment) {
  types::Checked checked = types::check(command.file, environment.system.files,
                                        {.trust = engine::trust_policy(command.file, environment.system.files)});
  bytecode::Program program;
  if (!checked.diagnostics.has_errors()) program = compiler::compile(checked.program, checked.diagnostics);
  print_diagnostics(checked, ShownDiagnostics::WithoutNotes, environment);
  if (checked.diagnostics.has_errors()) return exit_failed;
  if (!flows::has_sinks(program)) {
    return fail("nothing in the program must be trusted: no extern has a `trusted` parameter or the option `acts`",
                environment, exit_usage);
  }
  std::vector<Sink> sinks = flows::find_flows(program);
  flows::add_ways_up(program, sinks);
  // What is tried is not part of one sink.
  std::vector<flows::Trial> trials;
  if (command.sink.empty()) trials = flows::find_trials(program);
  if (!command.sink.empty()) {
    const std::vector<std::string> names = keep_named(command.sink, sinks);
    if (sinks.empty()) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      const auto nearest = diagnostics::find_nearest(command.sink, known);
      const std::string hint = nearest ? fmt::format("; did you mean `{}`?", *nearest) : "";
      return fail(fmt::format("the program does not call `{}`, or it need not be trusted{}", command.sink, hint),
                  environment, exit_usage);
    }
  }
  if (command.json) {
    write_json(program, sinks, trials, environment);
  } else {
    write_text(program, sinks, environment);
    write_text(program, trials, environment);
  }
  return exit_done;
}

}  // namespace tenon::cli
