// Compares the store in PostgreSQL with libpq itself, alternating between them in one server: a lone durable step,
// groups of steps, and a command that one process answers for another.
#include <endian.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/ensure.h"
#include "base/parse_number.h"
#include "base/sha256.h"
#include "bench/measuring.h"
#include "bench/postgres/processor_time.h"
#include "bench/postgres/raw_session.h"
#include "bench/whole_programs.h"
#include "journal/open_store.h"

namespace {

using namespace tenon;
using bench::microseconds;
using bench::percentile;
using bench::RawSession;
using journal::Append;
using journal::OwnerRole;
using journal::RunName;
using journal::StoreConnection;
using nlohmann::ordered_json;

constexpr std::size_t step_bytes = 200;
constexpr std::size_t content_bytes = 300;
constexpr std::size_t note_key_bytes = 40;
constexpr std::size_t note_bytes = 60;
constexpr std::int64_t now_ms = 1'700'000'000'000;

/// Bytes that do not repeat, like hashes and encoded values.
class Payload {
 public:
  std::string next(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t at = 0; at + 8 <= size; at += 8) {
      const std::uint64_t bits = random_();
      std::copy_n(reinterpret_cast<const char*>(&bits), 8, bytes.data() + at);
    }
    return bytes;
  }

 private:
  std::mt19937_64 random_{1};
};

std::unique_ptr<StoreConnection> open_store(const std::string& url, OwnerRole role) {
  auto store = journal::open_store(url, {.role = role});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    std::exit(1);
  }
  return std::move(*store);
}

/// Times of both sides, which take turns: each with as many rounds in a row as are given, so that its session is as
/// warm as that of a program that does nothing else.
struct Comparison {
  std::vector<double> ours;
  std::vector<double> floor;

  void measure(std::size_t rounds, std::size_t in_a_row, const std::function<double()>& our_round,
               const std::function<double()>& floor_round) {
    const auto take_turn = [&](std::vector<double>& times, const std::function<double()>& round) {
      static_cast<void>(round());  // the other side was at work
      for (std::size_t at = 0; at < in_a_row; ++at) times.push_back(round());
    };
    while (ours.size() < rounds) {
      take_turn(ours, our_round);
      take_turn(floor, floor_round);
    }
    // The tables were still growing from nothing.
    ours.erase(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(in_a_row));
    floor.erase(floor.begin(), floor.begin() + static_cast<std::ptrdiff_t>(in_a_row));
  }

  ordered_json report(const std::string& name, std::size_t steps = 1) {
    const double our_time = percentile(ours, 0.5);
    const double floor_time = percentile(floor, 0.5);
    ordered_json result = {{"rounds", ours.size()},
                           {"us", our_time},
                           {"floor_us", floor_time},
                           {"ratio", our_time / floor_time},
                           {"p99_us", percentile(ours, 0.99)},
                           {"floor_p99_us", percentile(floor, 0.99)}};
    std::printf("%-32s %9.1f us   libpq %9.1f us   ratio %5.2f", name.c_str(), our_time, floor_time,
                our_time / floor_time);
    if (steps > 1) {
      const auto rate = [&](double time) { return static_cast<double>(steps) * 1e6 / time; };
      result["steps_per_second"] = rate(our_time);
      result["floor_steps_per_second"] = rate(floor_time);
      std::printf("   %8.0f/s   libpq %8.0f/s", rate(our_time), rate(floor_time));
    }
    std::printf("\n");
    std::fflush(stdout);
    return result;
  }
};

/// What a step has besides its record.
enum class With : std::uint8_t { Nothing, Contents, Notes };

/// Steps of many runs, recorded by the store, and inserted by libpq into tables of its own.
class Steps {
 public:
  Steps(const std::string& store_url, const std::string& raw_url, std::size_t runs)
      : store_(open_store(store_url, OwnerRole::Visitor)), raw_(raw_url) {
    raw_.execute(
        "CREATE SCHEMA IF NOT EXISTS raw;"
        "CREATE TABLE IF NOT EXISTS raw.steps(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, bytes bytea NOT "
        "NULL);"
        "CREATE TABLE IF NOT EXISTS raw.contents(hash bytea PRIMARY KEY, bytes bytea NOT NULL);"
        "CREATE TABLE IF NOT EXISTS raw.notes(key bytea PRIMARY KEY, bytes bytea NOT NULL)");
    raw_.prepare("step", "INSERT INTO raw.steps(bytes) VALUES($1::bytea)");
    raw_.prepare("content", "INSERT INTO raw.contents(hash, bytes) VALUES($1::bytea, $2::bytea)");
    raw_.prepare("note", "INSERT INTO raw.notes(key, bytes) VALUES($1::bytea, $2::bytea)");
    raw_.execute(
        "CREATE TABLE IF NOT EXISTS raw.heads(id bigint PRIMARY KEY, epoch bigint NOT NULL, records bigint NOT NULL, "
        "chain bytea NOT NULL) WITH (fillfactor = 60);"
        "CREATE TABLE IF NOT EXISTS raw.records(run bigint NOT NULL, number bigint NOT NULL, bytes bytea NOT NULL, "
        "PRIMARY KEY (run, number));"
        "INSERT INTO raw.heads SELECT id, 1, 0, '' FROM generate_series(1, 1000) AS id ON CONFLICT DO NOTHING");
    raw_.prepare(
        "fenced step",
        "WITH head AS (UPDATE raw.heads SET records = records + 1, chain = $1::bytea WHERE id = $3::bigint AND epoch = "
        "1 "
        "RETURNING id, records) INSERT INTO raw.records SELECT id, records, $2::bytea FROM head RETURNING run");
    for (std::size_t at = 0; at < runs; ++at) runs_.push_back({journal::make_run_name(now_ms), 0});
  }

  /// A group of one step for each of the first `count` runs.
  double commit(std::size_t count, With with) {
    std::vector<Append> appends;
    for (std::size_t at = 0; at < count; ++at) appends.push_back(make_step(runs_[at], with));
    return microseconds([&] {
      const auto refusals = store_->journals().commit(appends);
      ENSURE(refusals.has_value());
      for (const auto& refusal : *refusals) ENSURE(!refusal);
    });
  }

  double insert(std::size_t count, With with) {
    std::vector<std::string> texts;
    texts.reserve(count * 3);
    std::vector<RawSession::Call> calls;
    const auto keep = [&](std::string text) -> std::string_view { return texts.emplace_back(std::move(text)); };
    for (std::size_t at = 0; at < count; ++at) {
      calls.push_back({"step", {keep(payload_.next(step_bytes))}});
      if (with == With::Contents) {
        const std::string_view bytes = keep(payload_.next(content_bytes));
        calls.push_back({"content", {keep(std::string(sha256(bytes).view())), bytes}});
      }
      if (with == With::Notes)
        calls.push_back({"note", {keep(payload_.next(note_key_bytes)), keep(payload_.next(note_bytes))}});
    }
    if (count == 1) return microseconds([&] { raw_.run(calls.front()); });
    return microseconds([&] { raw_.run_pipelined(calls); });
  }

  /// The least that has the store's promises: steps that are recorded only by the owner of their runs.
  double insert_fenced(std::size_t count) {
    std::vector<std::string> texts;
    texts.reserve(count * 3);
    std::vector<RawSession::Call> calls;
    const auto keep = [&](std::string text) -> std::string_view { return texts.emplace_back(std::move(text)); };
    for (std::size_t at = 0; at < count; ++at) {
      const std::uint64_t id = htobe64(at + 1);
      calls.push_back({"fenced step",
                       {keep(payload_.next(Hash::size)), keep(payload_.next(step_bytes)),
                        keep(std::string(reinterpret_cast<const char*>(&id), sizeof id))}});
    }
    if (count == 1) return microseconds([&] { raw_.run(calls.front()); });
    return microseconds([&] { raw_.run_pipelined(calls); });
  }

  /// Groups of a step for each run, and the processor time that they take here and in the server.
  ordered_json measure_cores(std::size_t groups) {
    const bench::ServerProcessorTime server(parse_number<pid_t>(raw_.query("SELECT pg_backend_pid()")).value());
    const double own_begin = bench::cpu_seconds();
    const double server_begin = server.seconds();
    double us = 0;
    for (std::size_t at = 0; at < groups; ++at) us += commit(runs_.size(), With::Nothing);
    const double own = bench::cpu_seconds() - own_begin;
    const double other = server.seconds() - server_begin;
    const auto steps = static_cast<double>(groups * runs_.size());
    std::printf("%-32s %9.0f /s with %.2f cores, of which %.2f in the server: %.0f /s a core\n", "groups of 1000 steps",
                steps * 1e6 / us, (own + other) * 1e6 / us, other * 1e6 / us, steps / (own + other));
    return {{"steps", steps},
            {"steps_per_second", steps * 1e6 / us},
            {"cores", (own + other) * 1e6 / us},
            {"cores_of_the_server", other * 1e6 / us},
            {"steps_per_second_and_core", steps / (own + other)}};
  }

  /// What a step takes on the server's disk: tables with their indexes.
  double stored_bytes_per_step() {
    const std::string bytes = raw_.query(
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = "
        "c.relnamespace WHERE n.nspname = 'tenon' AND c.relname IN ('runs', 'batches')");
    return static_cast<double>(parse_number<std::uint64_t>(bytes).value()) / static_cast<double>(recorded_);
  }

 private:
  struct Run {
    RunName name;
    std::uint64_t records = 0;
  };

  Append make_step(Run& run, With with) {
    Append append;
    append.run = run.name;
    append.first = ++run.records;
    append.records = {payload_.next(step_bytes)};
    append.summary.title = "main";
    append.summary.updated_at = now_ms + static_cast<std::int64_t>(run.records);
    if (with == With::Contents) {
      std::string bytes = payload_.next(content_bytes);
      const Hash hash = sha256(bytes);
      append.contents.push_back({hash, std::move(bytes), {}});
      append.references = {hash};
    }
    if (with == With::Notes) append.notes.push_back({payload_.next(note_key_bytes), payload_.next(note_bytes), {}});
    ++recorded_;
    return append;
  }

  std::unique_ptr<StoreConnection> store_;
  RawSession raw_;
  std::vector<Run> runs_;
  Payload payload_;
  std::uint64_t recorded_ = 0;
};

ordered_json measure_steps(const std::string& store_url, const std::string& raw_url, bool is_quick) {
  constexpr std::size_t runs = 1'000;
  Steps steps(store_url, raw_url, runs);
  ordered_json results;
  steps.commit(runs, With::Nothing);  // all runs exist from here on
  const auto compare = [&](const std::string& name, std::size_t count, With with, std::size_t rounds) {
    Comparison times;
    times.measure(
        is_quick ? std::max<std::size_t>(rounds / 5, 20) : rounds, std::max<std::size_t>(50 / count, 2),
        [&] { return steps.commit(count, with); }, [&] { return steps.insert(count, with); });
    results[name] = times.report(name, count);
  };
  compare("lone step", 1, With::Nothing, 3'000);
  const auto compare_fenced = [&](const std::string& name, std::size_t count, std::size_t rounds) {
    Comparison times;
    times.measure(
        is_quick ? rounds / 5 : rounds, std::max<std::size_t>(50 / count, 2),
        [&] { return steps.commit(count, With::Nothing); }, [&] { return steps.insert_fenced(count); });
    results[name + ", fenced by hand"] = times.report(name + ", fenced by hand", count);
  };
  compare_fenced("lone step", 1, 3'000);
  for (const std::size_t count : {std::size_t{16}, std::size_t{128}, runs}) {
    const std::string name = std::to_string(count) + " steps";
    compare(name, count, With::Nothing, 60'000 / (count + 60));
    compare_fenced(name, count, 60'000 / (count + 60));
  }
  for (const std::size_t count : {std::size_t{128}, runs}) {
    compare(std::to_string(count) + " steps with contents", count, With::Contents, 20'000 / (count + 60));
    compare(std::to_string(count) + " steps with notes", count, With::Notes, 20'000 / (count + 60));
  }
  results["groups, by cores"] = steps.measure_cores(is_quick ? 40 : 200);
  const double bytes = steps.stored_bytes_per_step();
  results["bytes_per_step"] = bytes;
  std::printf("%-32s %9.0f bytes in tables and indexes\n", "a step of 200 bytes", bytes);
  return results;
}

/// Is set on one thread and awaited on another.
class Signal {
 public:
  void set() {
    {
      const std::scoped_lock lock(mutex_);
      is_set_ = true;
    }
    changed_.notify_all();
  }
  /// Waits until it is set, and clears it. Not longer than what a lost notice may take.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return is_set_; });
    is_set_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

/// Answers the commands of its runs, each with a record of its own, as a host does.
class Answerer {
 public:
  explicit Answerer(const std::string& url) : store_(open_store(url, OwnerRole::Host)) {
    append_.run = journal::make_run_name(now_ms);
    append_.summary.title = "main";
    record("start");
    subscription_ = store_->wakeups().subscribe([this](journal::Wakeups::Notice) { signal_.set(); });
    thread_ = std::thread([this] { answer_all(); });
  }
  ~Answerer() {
    is_ending_ = true;
    signal_.set();
    thread_.join();
  }
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;
  [[nodiscard]] const RunName& run() const { return append_.run; }

 private:
  void record(std::string bytes) {
    append_.records = {std::move(bytes)};
    const auto refusals = store_->journals().commit({&append_, 1});
    ENSURE(refusals.has_value() && !refusals->front());
    ++append_.first;
  }

  void answer_all() {
    while (!is_ending_) {
      const auto commands = store_->inbox().unanswered(store_->ownership().self(), 100);
      ENSURE(commands.has_value());
      for (const journal::Command& command : *commands) {
        record(command.bytes);
        ENSURE(store_->inbox().answer(command.id, "accepted", journal::ReplyDurability::MayBeRepeated).has_value());
      }
      if (commands->empty()) signal_.wait();
    }
  }

  std::unique_ptr<StoreConnection> store_;
  Append append_;
  Signal signal_;
  std::unique_ptr<journal::Subscription> subscription_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

ordered_json measure_commands(const std::string& store_url, const std::string& raw_url, bool is_quick) {
  Answerer answerer(store_url);
  const auto sender = open_store(store_url, OwnerRole::Gateway);
  Signal replied;
  const auto subscription = sender->wakeups().subscribe([&](journal::Wakeups::Notice) { replied.set(); });
  RawSession raw(raw_url);
  RawSession listener(raw_url);
  raw.execute(
      "CREATE SCHEMA IF NOT EXISTS raw; CREATE TABLE IF NOT EXISTS raw.commands(id bigint GENERATED ALWAYS AS IDENTITY "
      "PRIMARY KEY, bytes bytea NOT NULL)");
  raw.prepare("command", "INSERT INTO raw.commands(bytes) VALUES($1::bytea)");
  raw.prepare("notify", "SELECT pg_notify('raw_commands', '')");
  listener.execute("LISTEN raw_commands");
  Payload payload;
  Comparison times;
  times.measure(
      is_quick ? 100 : 600, 20,
      [&] {
        const std::string bytes = payload.next(step_bytes);
        return microseconds([&] {
          const auto id =
              sender->inbox().send({.run = answerer.run(), .bytes = bytes, .sender = sender->ownership().self()});
          ENSURE(id.has_value());
          while (true) {
            const auto reply = sender->inbox().take_reply(*id);
            ENSURE(reply.has_value());
            if (*reply) return;
            replied.wait();
          }
        });
      },
      [&] {
        const std::string bytes = payload.next(step_bytes);
        return microseconds([&] {
          raw.run({"command", {bytes}});
          raw.run({"notify", {}});
          listener.await_notification();
        });
      });
  return {{"command of another process", times.report("command of another process")}};
}

/// As bench/durable does it with a file.
ordered_json measure_whole_programs(const std::string& store_url, const std::string& program, bool is_quick) {
  ordered_json results;
  for (const char* const function : {"calls", "generations"}) {
    const std::string url = store_url + "&tenon.schema=" + function;
    results.push_back(bench::measure_whole_programs(
        url, {.program = program, .function = function, .runs = 1'000, .steps = is_quick ? 50'000U : 200'000U}));
  }
  return {{"whole programs", results}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "bench_postgres URL RAW_URL PROGRAM RESULTS.json\n");
    return 2;
  }
  const bool is_quick = std::getenv("TENON_BENCH_QUICK") != nullptr;
  ordered_json results = measure_steps(argv[1], argv[2], is_quick);
  results.update(measure_commands(argv[1], argv[2], is_quick));
  results.update(measure_whole_programs(argv[1], argv[3], is_quick));
  std::FILE* const file = std::fopen(argv[4], "w");
  ENSURE(file != nullptr);
  std::fputs(results.dump(2).c_str(), file);
  std::fclose(file);
  return 0;
}
