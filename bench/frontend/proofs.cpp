#include "bench/frontend/proofs.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/measuring.h"
#include "compiler/compile.h"
#include "flows/flows.h"
#include "flows/report.h"
#include "tests/support/one_file.h"
#include "types/check.h"

namespace tenon::bench {
namespace {

constexpr std::size_t lines_wanted = 10'000;
constexpr int rounds = 15;

/// What the calls that act get.
enum class Texts {
  Program,  ///< constants: every call is proved
  Outside,  ///< some are an extern's result: every call is tested
};

/// One of many similar parts of the program: a mail that is read, classified by a model, and perhaps answered.
/// `letters`: the extern that reads it. Its calls act unless `acts` is false.
std::string section(std::size_t number, Texts texts, std::size_t letters, bool acts) {
  const std::string id = std::to_string(number);
  const std::string send = acts ? "send_mail" : "note";
  const std::string to = texts == Texts::Outside ? "if urgent { letter } else { \"desk\" }" : "\"desk\"";
  const std::string choice = texts == Texts::Outside ? "letter.len() > 100" : "limit > 100";
  return "/// Which kind of request it is.\n"
         "fn classify" +
         id +
         "(ctx: Context, message: String) -> \"billing\" | \"other\" {\n"
         "    \"Which kind of request is this?\"!\n"
         "    message!\n"
         "}\n"
         "\n"
         "fn subject" +
         id +
         "(words: List<String>, limit: i32) -> String {\n"
         "    let text = \"\"\n"
         "    for word in words {\n"
         "        if text.len() < limit && word.len() > 0 {\n"
         "            text = \"{{ text }} {{ word }}\"\n"
         "        } else {\n"
         "            continue\n"
         "        }\n"
         "    }\n"
         "    text\n"
         "}\n"
         "\n"
         "fn answer" +
         id +
         "(ctx: Context, limit: i32) -> String {\n"
         "    let letter = read" +
         std::to_string(letters) +
         "()\n"
         "    let urgent = " +
         choice +
         "\n"
         "    let to = " +
         to +
         "\n"
         "    let kind = classify" +
         id +
         "(ctx, _)\n"
         "    let subject = subject" +
         id +
         "([\"about\", \"your\", \"letter\"], limit)\n"
         "    let sizes = [letter, subject].map(|text| text.len()).filter(|size| size > 2)\n"
         "    " +
         send +
         "(to, subject)\n"
         "    match kind {\n"
         "        \"billing\" => \"{{ subject }}: {{ sizes.len() }}\",\n"
         "        _ => \"Look it up\",\n"
         "    }\n"
         "}\n"
         "\n";
}

std::string program(Texts texts, std::size_t externs, bool acts) {
  std::string text =
      "extern fn send_mail(to: trusted String, subject: trusted String) -> ()\n"
      "extern fn note(to: String, subject: String) -> ()\n";
  for (std::size_t number = 0; number < externs; ++number) {
    text += "extern fn read" + std::to_string(number) + "() -> String\n";
  }
  std::size_t lines = externs + 2;
  std::string main = "fn main(ctx: Context, limit: i32) {\n";
  for (std::size_t number = 0; lines < lines_wanted; ++number, ++lines) {
    const std::string next = section(number, texts, number % externs, acts);
    lines += static_cast<std::size_t>(std::count(next.begin(), next.end(), '\n'));
    text += next;
    main += "    answer" + std::to_string(number) + "(ctx, limit)\n";
  }
  return text + main + "}\n";
}

[[noreturn]] void refuse(const char* name, const diagnostics::Diagnostics& found) {
  std::fprintf(stderr, "the program of %s has errors: %s\n", name, found.all().front().message.c_str());
  std::exit(1);
}

}  // namespace

nlohmann::ordered_json measure_proofs() {
  struct Case {
    const char* name;
    std::string text;
  };
  const std::vector<Case> cases = {
      {"nothing_acts", program(Texts::Outside, 1, false)},
      {"all_proved", program(Texts::Program, 1, true)},
      {"all_tested", program(Texts::Outside, 1, true)},
      {"all_tested_30_sources", program(Texts::Outside, 30, true)},
  };
  nlohmann::ordered_json results = nlohmann::ordered_json::object();
  for (const Case& one : cases) {
    test::OneFile files(one.text);
    std::vector<double> rest;
    std::vector<double> whole;
    for (int round = 0; round < rounds; ++round) {
      const double begin = cpu_seconds();
      types::Checked checked = types::check("program.tn", files, types::Strictness::Relaxed);
      if (checked.diagnostics.has_errors()) refuse(one.name, checked.diagnostics);
      const bytecode::Program compiled = compiler::compile(checked.program, checked.diagnostics);
      if (checked.diagnostics.has_errors()) refuse(one.name, checked.diagnostics);
      const double middle = cpu_seconds();
      flows::report(compiled, flows::find_flows(compiled), flows::Proofs::Wanted, checked.files(), checked.diagnostics);
      const double end = cpu_seconds();
      rest.push_back(middle - begin);
      whole.push_back(end - begin);
    }
    const double milliseconds = percentile(whole, 0.5) * 1e3;
    const double ratio = percentile(whole, 0.5) / percentile(rest, 0.5);
    std::printf("%-24s %6.1f ms for 10,000 lines, %.2f times the time without proofs\n", one.name, milliseconds, ratio);
    results[one.name] = {{"milliseconds", milliseconds}, {"ratio", ratio}};
  }
  return results;
}

}  // namespace tenon::bench
