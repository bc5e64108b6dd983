// What does not have a source's label does not depend on that source: programs are run twice, with other results of one
// extern, and the calls of `sink` that do not carry its label must be the same, in the same order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/machine_run.h"
#include "tests/support/program_image.h"
#include "tests/trust/random_program.h"

namespace tenon {
namespace {

constexpr std::string_view sources[] = {"flag", "count", "word"};
constexpr std::string_view declarations = R"(
extern fn flag() -> Boolean
extern fn count() -> i32
extern fn word() -> String
extern fn sink(text: String)
)";
constexpr std::size_t calls_max = 2'000;

/// The result of each extern, the same for each call: how often one was called must not matter. That of `varied`
/// depends on `variant`.
class Externs {
 public:
  Externs(std::uint64_t seed, std::string_view varied, std::uint64_t variant) {
    for (const std::string_view name : sources) {
      std::mt19937_64 random(seed * 31 + (name == varied ? variant : 0));
      results_.push_back(random() % 4);
    }
  }

  vm::Outcome answer(vm::Machine& machine, const vm::Request& request) const {
    const std::string& name = machine.program().program().externs[request.subject].name;
    if (name == "flag") return returns(vm::Value::boolean(results_[0] % 2 == 0));
    if (name == "count") return returns(vm::Value::integer(static_cast<std::int64_t>(results_[1])));
    if (name == "word") return returns(vm::Value::string("w" + std::to_string(results_[2])));
    return returns(vm::Value::unit());
  }

 private:
  static vm::Outcome returns(vm::Value value) { return {vm::ReturnedValue{std::move(value)}, {}}; }

  std::vector<std::uint64_t> results_;
};

struct Observed {
  std::string end;
  std::size_t calls = 0;
  std::vector<std::string> sinks;  ///< the lines of calls without the label
};

/// The sources of a label are in the order of their first use, which may be another one.
std::string with_sorted_label(std::string_view line) {
  const std::size_t begin = line.rfind('[') + 1;
  std::vector<std::string> names;
  std::istringstream label(std::string(line.substr(begin, line.size() - begin - 1)));
  for (std::string name; std::getline(label >> std::ws, name, ',');) names.push_back(name);
  std::ranges::sort(names);
  std::string sorted(line.substr(0, begin));
  for (const std::string& name : names) sorted += name + ";";
  return sorted;
}

/// `without`: the source whose label makes a call of no interest.
Observed observe(const runtime::ProgramImage& image, const Externs& externs, std::string_view without,
                 bool with_snapshots) {
  const bytecode::Program& program = image.program();
  const auto main = std::ranges::find(program.functions, "main", &bytecode::Function::name);
  const auto function = static_cast<std::uint32_t>(main - program.functions.begin());
  const auto answerer = [&](vm::Machine& machine, const vm::Request& request) {
    return externs.answer(machine, request);
  };
  const test::RunRecord record =
      test::run_once(image.loaded(), {}, with_snapshots ? test::Drive::SnapshotEachInstruction : test::Drive::Straight,
                     answerer, {}, function);
  Observed observed{record.end, 0, {}};
  const auto sink = std::ranges::find(program.externs, "sink", &bytecode::Extern::name);
  const std::string call = " extern " + std::to_string(sink - program.externs.begin()) + " ";
  const std::string label = "extern " + std::string(without);
  for (std::size_t at = 0; at < record.requests.size();) {
    const std::size_t end = record.requests.find('\n', at);
    const std::string_view line = std::string_view(record.requests).substr(at, end - at);
    const std::size_t place = line.find(call);
    ++observed.calls;
    // The key counts requests, of which there may be others.
    if (place != std::string_view::npos && line.find(label, line.rfind('[')) == std::string_view::npos) {
      observed.sinks.push_back(with_sorted_label(line.substr(place + call.size())));
    }
    at = end + 1;
  }
  return observed;
}

TEST(Interference, WhatHasNoLabelOfASourceDoesNotDependOnIt) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= test::random_program_count(); ++seed) {
    const std::string text =
        std::string(declarations) + test::make_random_program(seed, test::Constructs::ThatNeverFail);
    const auto image = test::make_image(text);
    for (const std::string_view& source : sources) {
      // Slow, so of one source at a time.
      const bool with_snapshots = seed % 20 == 0 && &source == &sources[seed / 20 % std::size(sources)];
      const Observed first = observe(*image, Externs(seed, source, 1), source, with_snapshots);
      if (first.calls > calls_max) continue;
      ASSERT_EQ(first.end, "value null") << "seed " << seed << text;
      for (std::uint64_t variant = 2; variant < 5; ++variant) {
        const Observed other = observe(*image, Externs(seed, source, variant), source, with_snapshots);
        ASSERT_EQ(other.end, "value null") << "seed " << seed << text;
        ASSERT_EQ(first.sinks, other.sinks)
            << "seed " << seed << ", results of " << source << ", variant " << variant << text;
      }
      compared += first.sinks.size();
    }
  }
  EXPECT_GT(compared, test::random_program_count()) << "the programs say too little";
}

}  // namespace
}  // namespace tenon
