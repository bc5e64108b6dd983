// Compares durable steps of 200 bytes, one after the other, with bare inserts of the same size; and measures whole
// programs, one and a thousand at once.
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/ensure.h"
#include "bench/measuring.h"
#include "bench/whole_programs.h"
#include "journal/open_store.h"
#include "tests/support/temporary_folder.h"

namespace {

using namespace tenon;
using bench::microseconds;
using bench::percentile;
using journal::Append;
using journal::Durability;
using journal::RunName;

constexpr std::size_t step_bytes = 200;

/// A table of blobs in the same SQLite, with the same durability and SQLite's default checkpoints.
class BareInserts {
 public:
  BareInserts(const std::string& path, Durability durability) {
    ENSURE(sqlite3_open(path.c_str(), &database_) == SQLITE_OK);
    execute("PRAGMA journal_mode = WAL");
    execute(durability == Durability::Full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    execute("CREATE TABLE steps(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
    ENSURE(sqlite3_prepare_v2(database_, "INSERT INTO steps(bytes) VALUES(?1)", -1, &insert_, nullptr) == SQLITE_OK);
  }
  ~BareInserts() {
    sqlite3_finalize(insert_);
    sqlite3_close(database_);
  }
  BareInserts(const BareInserts&) = delete;
  BareInserts& operator=(const BareInserts&) = delete;
  void step(const std::string& bytes) {
    sqlite3_bind_blob(insert_, 1, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    ENSURE(sqlite3_step(insert_) == SQLITE_DONE);
    sqlite3_reset(insert_);
  }

 private:
  void execute(const char* sql) { ENSURE(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK); }
  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

std::unique_ptr<journal::StoreConnection> open_store(const std::string& path, Durability durability) {
  auto store = journal::open_store(path, {.durability = durability});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    std::exit(1);
  }
  return std::move(*store);
}

Append make_step(const RunName& run, std::uint64_t number, const std::string& bytes) {
  Append append;
  append.run = run;
  append.first = number;
  append.records = {bytes};
  append.summary.title = "main";
  append.summary.updated_at = 1'700'000'000'000 + static_cast<std::int64_t>(number);
  return append;
}

/// Bytes that do not repeat, like hashes and encoded values.
class Payload {
 public:
  const std::string& next() {
    for (std::size_t at = 0; at + 8 <= bytes_.size(); at += 8) {
      const std::uint64_t bits = random_();
      std::copy_n(reinterpret_cast<const char*>(&bits), 8, bytes_.data() + at);
    }
    return bytes_;
  }

 private:
  std::mt19937_64 random_{1};
  std::string bytes_ = std::string(step_bytes, '\0');
};

nlohmann::ordered_json measure_steps(const test::TemporaryFolder& folder, Durability durability, std::size_t count) {
  const bool is_full = durability == Durability::Full;
  const std::string name = is_full ? "full" : "process";
  const auto store = open_store(folder.file(name + ".db"), durability);
  BareInserts bare(folder.file(name + "_bare.db"), durability);
  const RunName run = journal::make_run_name(1);
  Payload payload;
  std::vector<double> ours;
  std::vector<double> theirs;
  std::uint64_t number = 0;
  const auto our_step = [&] {
    const Append append = make_step(run, ++number, payload.next());
    return microseconds([&] {
      const auto refusals = store->journals().commit({&append, 1});
      ENSURE(refusals.has_value() && !refusals->front());
      ENSURE(store->journals().maintain().has_value());
    });
  };
  const auto their_step = [&] {
    const std::string& bytes = payload.next();
    return microseconds([&] { bare.step(bytes); });
  };
  for (std::size_t at = 0; at < count + 100; ++at) {
    double our_time = 0;
    double their_time = 0;
    // The order alternates, so that neither side always runs after the other.
    if (at % 2 == 0) {
      our_time = our_step();
      their_time = their_step();
    } else {
      their_time = their_step();
      our_time = our_step();
    }
    if (at < 100) continue;  // the files are still growing from nothing
    ours.push_back(our_time);
    theirs.push_back(their_time);
  }
  nlohmann::ordered_json result = {{"steps", count}};
  for (const auto& [part_name, part] : {std::pair{"median", 0.5}, std::pair{"p99", 0.99}}) {
    const double our_time = percentile(ours, part);
    const double their_time = percentile(theirs, part);
    result[part_name] = {{"append_us", our_time},
                         {"bare_us", their_time},
                         {"ratio", our_time / their_time},
                         {"more_us", our_time - their_time}};
    std::printf("%-8s %-7s append %9.1f us   bare insert %9.1f us   ratio %5.2f   more %8.1f us\n", name.c_str(),
                part_name, our_time, their_time, our_time / their_time, our_time - their_time);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "bench_durable FOLDER PROGRAM [RESULTS.json]\n");
    return 2;
  }
  const bool is_quick = std::getenv("TENON_BENCH_QUICK") != nullptr;
  const bool is_long = std::getenv("TENON_BENCH_LONG") != nullptr;
  const test::TemporaryFolder folder(argv[1]);
  utsname machine{};
  uname(&machine);
  nlohmann::ordered_json results = {
      {"step_bytes", step_bytes},
      {"versions",
       {{"sqlite", sqlite3_libversion()},
        {"machine", std::to_string(std::thread::hardware_concurrency()) + " x " + machine.machine + ", " +
                        machine.sysname + " " + machine.release}}}};
  results["full"] = measure_steps(folder, Durability::Full, is_quick ? 2'500 : 5'000);
  results["process"] = measure_steps(folder, Durability::Process, is_quick ? 20'000 : 40'000);
  const std::uint64_t steps = is_long ? 1'000'000 : is_quick ? 50'000 : 100'000;
  const auto measure = [&](const char* function, std::size_t runs, std::uint64_t all, bool is_full, bool waits) {
    const std::string file = folder.file("whole_programs.db");
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(file + suffix);
    results["whole_programs"][is_full ? "full" : "process"].push_back(
        bench::measure_whole_programs(file, {argv[2], function, runs, all, is_full, waits}));
  };
  for (const char* const function : {"calls", "generations"}) {
    if (is_long) {
      measure(function, 1'000, steps, true, false);
      continue;
    }
    for (const bool is_full : {true, false}) {
      measure(function, 1, is_full ? 1'000 : 50'000, is_full, false);
      // Alternates between commits on a separate thread and on the main thread.
      for (int round = 0; round < 3; ++round) {
        for (const bool waits : {true, false}) {
          measure(function, 16, steps / 10, is_full, waits);
          measure(function, 1'000, steps, is_full, waits);
        }
      }
    }
  }
  if (argc > 3) std::ofstream(argv[3]) << results.dump(2) << '\n';
  return 0;
}
