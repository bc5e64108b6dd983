// Measures the cost of resuming and replaying a run, and the growth of its journal.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/ensure.h"
#include "bench/load_program.h"
#include "bench/measuring.h"
#include "bench/recovery/recording.h"
#include "tests/support/temporary_folder.h"

extern char** environ;

namespace {

using namespace tenon;
using bench::percentile;
using bench::stop;
using Strings = std::vector<std::string>;

constexpr std::uint64_t recorded_steps = 100;

struct Ran {
  double milliseconds = 0;  ///< from before the start until the awaited text arrived, or until the end of the output
  double cpu_milliseconds = 0;  ///< of the whole process
  std::size_t output_bytes = 0;
};

/// Starts a program and reads its standard output. If a text is awaited, kills the program as soon as the text appears;
/// otherwise waits for it to exit, which must be with success.
Ran run_program(const Strings& command, const std::string& awaited) {
  int output[2];
  ENSURE(pipe2(output, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const auto begin = std::chrono::steady_clock::now();
  if (posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
    stop(command[0] + " cannot be started");
  }
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);
  Ran ran;
  std::string text;
  char buffer[65'536];
  bool has_come = false;
  for (ssize_t got = 0; !has_come && (got = read(output[0], buffer, sizeof buffer)) > 0;) {
    ran.output_bytes += static_cast<std::size_t>(got);
    if (awaited.empty()) continue;
    text.append(buffer, static_cast<std::size_t>(got));
    has_come = text.find(awaited) != std::string::npos;
  }
  ran.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (has_come) kill(process, SIGKILL);
  close(output[0]);
  int status = 0;
  rusage usage{};
  wait4(process, &status, 0, &usage);
  for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
    ran.cpu_milliseconds += static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  }
  const bool is_good = awaited.empty() ? WIFEXITED(status) && WEXITSTATUS(status) == 0 : has_come;
  if (!is_good) {
    std::string all;
    for (const std::string& word : command) all += word + " ";
    stop("this did not work: " + all);
  }
  return ran;
}

/// Measures the time from process start to the first request, alternating with the bare program.
nlohmann::ordered_json measure_resume(const std::string& tenon, const std::string& floor,
                                      const test::TemporaryFolder& folder,
                                      const std::shared_ptr<const runtime::ProgramImage>& image, int rounds) {
  const std::string store = folder.file("resumed.db");
  const std::string script = folder.file("answers.script");
  std::ofstream(script) << "* => \"It is a number.\"\n";
  journal::RunName run;
  {
    bench::Recording recording(image, store, "script:" + script);
    run = recording.run("generations", 10'000, recorded_steps);
  }
  std::vector<double> ours, theirs;
  for (int round = -3; round < rounds; ++round) {
    const std::string our_store = folder.file("ours.db"), their_store = folder.file("theirs.db");
    for (const std::string& copy : {our_store, their_store}) {
      for (const char* suffix : {"-wal", "-shm", ".lock"}) std::filesystem::remove(copy + suffix);
      std::filesystem::copy_file(store, copy, std::filesystem::copy_options::overwrite_existing);
    }
    const auto our_turn = [&] {
      return run_program({tenon, "resume", run.text, "--store", our_store, "--trace", "/dev/stdout"},
                         "\"generation_started\"")
          .milliseconds;
    };
    const auto their_turn = [&] { return run_program({floor, their_store, run.text}, "read").milliseconds; };
    double our_time = 0, their_time = 0;
    if (round % 2 == 0) {
      our_time = our_turn();
      their_time = their_turn();
    } else {
      their_time = their_turn();
      our_time = our_turn();
    }
    if (round < 0) continue;
    ours.push_back(our_time);
    theirs.push_back(their_time);
  }
  nlohmann::ordered_json result = {{"recorded_steps", recorded_steps}, {"rounds", rounds}};
  for (const auto& [name, part] : {std::pair{"median", 0.5}, std::pair{"p90", 0.9}}) {
    const double our_time = percentile(ours, part), their_time = percentile(theirs, part);
    result[name] = {{"resume_ms", our_time}, {"bare_ms", their_time}, {"ratio", our_time / their_time}};
    std::printf(
        "spawn to first request after %llu steps, %-6s  tenon resume %6.1f ms   bare program %6.1f ms   ratio %5.2f\n",
        static_cast<unsigned long long>(recorded_steps), name, our_time, their_time, our_time / their_time);
  }
  return result;
}

/// Measures `tenon replay` per recorded step, as the difference between a long run and a short one.
nlohmann::ordered_json measure_replay(const std::string& tenon, const test::TemporaryFolder& folder,
                                      const std::shared_ptr<const runtime::ProgramImage>& image, std::uint64_t steps,
                                      int rounds) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const char* function : {"generations", "instants"}) {
    const std::string store = folder.file(std::string("replayed_") + function + ".db");
    journal::RunName brief, extended;
    {
      bench::Recording recording(image, store, "script:none");
      brief = recording.run(function, recorded_steps);
      extended = recording.run(function, recorded_steps + steps);
    }
    std::vector<double> brief_ms, extended_ms, brief_cpu, extended_cpu;
    for (int round = 0; round < rounds; ++round) {
      const Ran once = run_program({tenon, "replay", brief.text, "--store", store}, "");
      const Ran again = run_program({tenon, "replay", extended.text, "--store", store}, "");
      brief_ms.push_back(once.milliseconds);
      brief_cpu.push_back(once.cpu_milliseconds);
      extended_ms.push_back(again.milliseconds);
      extended_cpu.push_back(again.cpu_milliseconds);
    }
    const auto per_step = [&](const std::vector<double>& all, const std::vector<double>& few) {
      return (percentile(all, 0.5) - percentile(few, 0.5)) * 1'000 / static_cast<double>(steps);
    };
    const double us = per_step(extended_ms, brief_ms), cpu_us = per_step(extended_cpu, brief_cpu);
    results.push_back({{"function", function}, {"steps", steps}, {"us_per_step", us}, {"cpu_us_per_step", cpu_us}});
    std::printf("replay of `%s`: %5.2f us a recorded step, %5.2f us of CPU, over %llu steps\n", function, us, cpu_us,
                static_cast<unsigned long long>(steps));
  }
  return results;
}

nlohmann::ordered_json measure_growth(const std::string& tenon, const test::TemporaryFolder& folder,
                                      const std::shared_ptr<const runtime::ProgramImage>& image, std::uint64_t turns) {
  struct Size {
    std::size_t store = 0, artifacts = 0;
  };
  const auto size_of = [&](std::uint64_t count) {
    const std::string store = folder.file("turns" + std::to_string(count) + ".db");
    journal::RunName run;
    {
      bench::Recording recording(image, store, "script:none");
      run = recording.converse("Desk", count);
    }
    return Size{std::filesystem::file_size(store),
                run_program({tenon, "trace", "artifacts", run.text, "--store", store}, "").output_bytes};
  };
  const Size once = size_of(turns), twice = size_of(2 * turns);
  const auto ratio = [](std::size_t a, std::size_t b) { return static_cast<double>(a) / static_cast<double>(b); };
  nlohmann::ordered_json result = {{"turns", turns},
                                   {"store_bytes", once.store},
                                   {"artifacts_bytes", once.artifacts},
                                   {"store_ratio", ratio(twice.store, once.store)},
                                   {"artifacts_ratio", ratio(twice.artifacts, once.artifacts)},
                                   {"ratio", ratio(twice.store + twice.artifacts, once.store + once.artifacts)}};
  std::printf(
      "%llu turns: store %zu KB, artifacts %zu KB; twice as many: store x %.3f, artifacts x %.3f, both x %.3f\n",
      static_cast<unsigned long long>(turns), once.store >> 10U, once.artifacts >> 10U,
      result["store_ratio"].get<double>(), result["artifacts_ratio"].get<double>(), result["ratio"].get<double>());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "bench_recovery TENON FLOOR FOLDER PROGRAM [RESULTS.json]\n");
    return 2;
  }
  const bool is_quick = std::getenv("TENON_BENCH_QUICK") != nullptr;
  const test::TemporaryFolder folder(argv[3]);
  const auto image = bench::load(argv[4]);
  utsname machine{};
  uname(&machine);
  nlohmann::ordered_json results = {
      {"versions",
       {{"sqlite", sqlite3_libversion()},
        {"machine", std::to_string(std::thread::hardware_concurrency()) + " x " + machine.machine + ", " +
                        machine.sysname + " " + machine.release}}}};
  results["resume"] = measure_resume(argv[1], argv[2], folder, image, is_quick ? 20 : 60);
  results["replay"] = measure_replay(argv[1], folder, image, is_quick ? 10'000 : 30'000, is_quick ? 3 : 7);
  results["growth"] = measure_growth(argv[1], folder, image, is_quick ? 300 : 1'000);
  if (argc > 5) std::ofstream(argv[5]) << results.dump(2) << '\n';
  return 0;
}
