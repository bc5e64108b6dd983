// Checks that disturbed runs end like undisturbed ones. `./dev sim --help` lists the options.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>

#include "tests/simulation/owners.h"
#include "tests/simulation/simulation.h"
#include "tests/support/program_image.h"

namespace {

using namespace tenon::simulation;

constexpr const char* usage = R"(simulation: durable runs under crashes, failing disks and late answers
  --seed N          one seed, with its program printed when it fails
  --seeds N         seeds from 0 on (default: 1000)
  --long            10,000 of them
  --from N          the first of them
  --every           every moment and every operation of the disk of each seed, not a few: some seconds a seed
  --owners          only the part with several owners of one store
  --program         print the seed's program, do not run it
  --betrayal NAME   a store that breaks its promise: early (acknowledges before it commits), sync (synchronous=NORMAL)
                    or lease (owners act after the end of their leases); ends well when that is noticed
)";

constexpr std::uint64_t long_seeds = 10'000;

struct Options {
  std::uint64_t from = 0;
  std::uint64_t seeds = 1'000;
  bool tries_every = false;
  bool is_single = false;
  bool only_owners = false;
  bool ignores_leases = false;  ///< a betrayal of the owners
  bool shows_program = false;
  Betrayal betrayal = Betrayal::None;
};

/// The number of disturbed runs per seed.
constexpr std::uint64_t disturbed_runs = 6;
/// The number of disturbed stores with several owners per seed.
constexpr std::uint64_t disturbed_owners = 2;

struct Totals {
  std::uint64_t runs = 0, compared = 0, records = 0, repetitions = 0, lives = 0, takeovers = 0, moves = 0;
};

/// Whether the order of events cannot change the run: then a disturbed run does the same as the undisturbed one.
bool is_comparable(const MadeProgram& program, const Report& undisturbed, const Report& disturbed,
                   const Behaviour& behaviour) {
  if (disturbed.is_cancelled || behaviour.varies_answers || !program.is_confluent) return false;
  if (!program.has_branches) return true;
  // A failed generation may have cancelled other branches.
  std::size_t at = 0;
  while (at < undisturbed.interaction.size()) {
    const std::size_t end = undisturbed.interaction.find('\n', at);
    const std::string_view line = std::string_view(undisturbed.interaction).substr(at, end - at);
    const bool asks_model = line.find("Model") != std::string_view::npos;
    if (line.find(" failed ") != std::string_view::npos && asks_model) return false;
    at = end + 1;
  }
  return true;
}

std::string difference(const std::string& expected, const std::string& found) {
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  const auto line_at = [](const std::string& text, std::size_t offset) {
    const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    return text.substr(begin, text.find('\n', offset) - begin);
  };
  return fmt::format("the undisturbed run: {}\nthis one:            {}",
                     line_at(expected, static_cast<std::size_t>(a - expected.begin())),
                     line_at(found, static_cast<std::size_t>(b - found.begin())));
}

class Seed {
 public:
  Seed(std::uint64_t seed, const Options& options, Totals& totals)
      : seed_(seed), options_(options), totals_(totals), random_(seed ^ 0xd157), program_(make_program(seed)) {
    scenario_.program = &program_;
    scenario_.image = tenon::test::make_image(program_.source);
    if (!program_.newer_source.empty()) scenario_.newer = tenon::test::make_image(program_.newer_source);
    scenario_.betrayal = options.betrayal;
    scenario_.behaviour.seed = seed;
    scenario_.behaviour.has_errors = seed % 3 == 0;
  }

  /// Why the seed has failed.
  std::optional<std::string> run() {
    if (options_.betrayal == Betrayal::None && !options_.ignores_leases && !options_.only_owners) {
      if (auto problem = run_processes()) return problem;
      return run_owners();
    }
    return options_.betrayal == Betrayal::None ? run_owners() : run_processes();
  }

 private:
  /// One process after the other.
  std::optional<std::string> run_processes() {
    scenario_.lives.clear();
    undisturbed_ = simulate(scenario_);
    count(undisturbed_);
    if (!undisturbed_.problems.empty()) return describe(undisturbed_.problems.front());
    if (!options_.tries_every) {
      for (std::uint64_t at = 0; at < disturbed_runs; ++at) {
        if (auto problem = disturb(make_disturbance())) return problem;
      }
      return std::nullopt;
    }
    for (std::uint64_t what = 1; what < disturbance_count; ++what) {
      const auto disturbance = static_cast<Disturbance>(what);
      for (std::uint64_t at = 0; at <= count_of(disturbance); ++at) {
        if (auto problem = disturb({disturbance, at})) return problem;
      }
    }
    return std::nullopt;
  }

  /// Several processes on one store.
  std::optional<std::string> run_owners() {
    OwnersScenario owners{.program = &program_, .image = scenario_.image, .behaviour = scenario_.behaviour};
    owners.runs = 1 + random_.below(3);
    const OwnersReport undisturbed = simulate_owners(owners);
    count(undisturbed, owners.runs);
    if (!undisturbed.problems.empty()) return describe_owners(owners, undisturbed.problems.front());
    owners.is_disturbed = true;
    owners.ignores_leases = options_.ignores_leases;
    for (std::uint64_t at = 0; at < disturbed_owners; ++at) {
      owners.seed = random_.next();
      owners.hosts = 1 + random_.below(3);
      owners.behaviour.shuffles = random_.one_in(3);
      owners.behaviour.repeats = random_.one_in(2);
      owners.placed_agents.clear();
      for (const char* const agent : {"Clerk", "Night", "Desk"}) {
        if (random_.one_in(3)) owners.placed_agents.emplace_back(agent);
      }
      const OwnersReport report = simulate_owners(owners);
      count(report, owners.runs);
      if (!report.problems.empty()) return describe_owners(owners, report.problems.front());
      for (std::uint64_t run = 0; run < owners.runs; ++run) {
        const std::string& expected = undisturbed.interactions[run];
        Report as_alone{.problems = {}, .interaction = expected};
        if (!is_comparable(program_, as_alone, as_alone, owners.behaviour)) continue;
        ++totals_.compared;
        if (report.interactions[run] != expected) {
          return describe_owners(owners, difference(expected, report.interactions[run]));
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string describe_owners(const OwnersScenario& owners, const std::string& problem) const {
    std::string text = fmt::format("seed {}: {} runs, {} owners", seed_, owners.runs, owners.hosts);
    if (owners.is_disturbed) text += fmt::format(", disturbances {:x}", owners.seed);
    for (const std::string& agent : owners.placed_agents) text += " with hosts of " + agent;
    if (owners.behaviour.shuffles) text += " shuffled";
    if (owners.behaviour.repeats) text += " repeated";
    return text + fmt::format("\n{}\n", problem);
  }

  void count(const OwnersReport& report, std::uint64_t runs) {
    totals_.runs += runs;
    totals_.records += report.records;
    totals_.repetitions += report.repetitions;
    totals_.lives += report.hosts;
    totals_.takeovers += report.takeovers;
    totals_.moves += report.moves;
  }

  [[nodiscard]] std::uint64_t count_of(Disturbance what) const {
    const bool is_disk =
        what == Disturbance::TearWrite || what == Disturbance::FailWrite || what == Disturbance::FillDisk;
    return is_disk ? undisturbed_.disk_operations : undisturbed_.moments;
  }

  Disturbed make_disturbance() {
    // The most frequent disturbance is the end of the process.
    const auto what = random_.one_in(3) ? Disturbance::EndProcess
                                        : static_cast<Disturbance>(1 + random_.below(disturbance_count - 1));
    return {what, random_.below(count_of(what) + 1)};
  }

  std::optional<std::string> disturb(Disturbed first) {
    scenario_.lives = {first};
    while (random_.one_in(3)) scenario_.lives.push_back(make_disturbance());
    Behaviour& behaviour = scenario_.behaviour;
    behaviour.shuffles = random_.one_in(3);
    behaviour.repeats = random_.one_in(2);
    behaviour.varies_answers = random_.one_in(4);
    const Report report = simulate(scenario_);
    count(report);
    std::optional<std::string> problem;
    if (!report.problems.empty()) {
      problem = report.problems.front();
    } else if (is_comparable(program_, undisturbed_, report, behaviour)) {
      ++totals_.compared;
      if (report.interaction != undisturbed_.interaction)
        problem = difference(undisturbed_.interaction, report.interaction);
    }
    if (problem) problem = describe(*problem);
    behaviour.shuffles = behaviour.repeats = behaviour.varies_answers = false;
    return problem;
  }

  [[nodiscard]] std::string describe(const std::string& problem) const {
    std::string text = fmt::format("seed {}:", seed_);
    for (const Disturbed& life : scenario_.lives) text += fmt::format(" {}@{}", disturbance_name(life.what), life.at);
    if (scenario_.behaviour.shuffles) text += " shuffled";
    if (scenario_.behaviour.repeats) text += " repeated";
    if (scenario_.behaviour.varies_answers) text += " varying answers";
    return text + fmt::format("\n{}\n", problem);
  }

  void count(const Report& report) {
    ++totals_.runs;
    totals_.records += report.records;
    totals_.repetitions += report.repetitions;
    totals_.lives += report.lives;
  }

  std::uint64_t seed_;
  const Options& options_;
  Totals& totals_;
  Random random_;
  MadeProgram program_;
  Scenario scenario_;
  Report undisturbed_;
};

std::optional<Options> read_options(int count, char** arguments) {
  Options options;
  for (int at = 1; at < count; ++at) {
    const std::string_view name = arguments[at];
    const std::string_view value = at + 1 < count ? arguments[at + 1] : "";
    const auto read_number = [&](std::uint64_t& number) {
      ++at;
      const auto end = value.data() + value.size();
      return !value.empty() && std::from_chars(value.data(), end, number).ptr == end;
    };
    if (name == "--long") {
      options.seeds = long_seeds;
    } else if (name == "--every") {
      options.tries_every = true;
    } else if (name == "--owners") {
      options.only_owners = true;
    } else if (name == "--program") {
      options.shows_program = true;
    } else if (name == "--seed") {
      options.is_single = true;
      options.seeds = 1;
      if (!read_number(options.from)) return std::nullopt;
    } else if (name == "--seeds" || name == "--from") {
      if (!read_number(name == "--seeds" ? options.seeds : options.from)) return std::nullopt;
    } else if (name == "--betrayal" && value == "lease") {
      ++at;
      options.ignores_leases = true;
    } else if (name == "--betrayal" && (value == "early" || value == "sync")) {
      ++at;
      options.betrayal = value == "early" ? Betrayal::AcknowledgesEarly : Betrayal::SyncsTooLittle;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

int run_seeds(const Options& options) {
  // A failure of many seeds is only printed a few times.
  constexpr std::uint64_t failures_max = 10;
  const bool betrays = options.betrayal != Betrayal::None || options.ignores_leases;
  const auto started = std::chrono::steady_clock::now();
  Totals totals;
  std::uint64_t failed = 0;
  std::uint64_t done = 0;
  for (std::uint64_t seed = options.from; done < options.seeds && failed < failures_max; ++seed, ++done) {
    const auto problem = Seed(seed, options, totals).run();
    if (!problem) continue;
    ++failed;
    if (betrays) {
      fmt::print("noticed: {}", *problem);
      return 0;
    }
    fmt::print("{}repeat with: ./dev sim --seed {}{}\n", *problem, seed,
               options.tries_every   ? " --every"
               : options.only_owners ? " --owners"
                                     : "");
    if (options.is_single) fmt::print("{}\n", make_program(seed).source);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print(
      "{} runs, {} of them compared, {} processes, {} takeovers, {} moves, {} records, {} calls made again, in {:.0f} "
      "s\n",
      totals.runs, totals.compared, totals.lives, totals.takeovers, totals.moves, totals.records, totals.repetitions,
      took.count());
  if (betrays) {
    fmt::print("it was not detected that the store broke its guarantees\n");
    return 1;
  }
  fmt::print("{} passed, {} failed\n", done - failed, failed);
  return failed > 0 ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  const auto options = read_options(count, arguments);
  if (!options) {
    std::fputs(usage, stderr);
    return 2;
  }
  if (options->shows_program) {
    fmt::print("{}", make_program(options->from).source);
    return 0;
  }
  return run_seeds(*options);
}
