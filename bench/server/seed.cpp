#include "seed.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "base/ensure.h"
#include "inference/scripted/scripted_model.h"
#include "journal/open_store.h"
#include "runtime/runtime.h"

namespace {

using namespace tenon;

/// Conversations in memory at the same time.
constexpr std::size_t batch_size = 1'000;
/// Turns before the one that asks; each adds an input and an answer to the conversation.
constexpr int turns = 10;

std::shared_ptr<const runtime::ProgramImage> image_of(journal::Store& store, const std::string& run) {
  const auto records = store.read({run}, 0, 1);
  ENSURE(records && records->size() == 1);
  const auto record = effects::decode_record(records->front().bytes);
  ENSURE(record.has_value());
  const auto bundle = store.content({run}, std::get<effects::Started>(record->body).program);
  ENSURE(bundle.has_value());
  auto program = runtime::read_bundle(*bundle);
  ENSURE(program.has_value());
  return std::make_shared<const runtime::ProgramImage>(program->loaded, std::move(program->templates), nullptr);
}

}  // namespace

int seed_conversations(const std::string& path, const std::string& run, std::size_t count) {
  // Nothing is measured here, so nothing waits for the disk; the measured server has its own durability setting.
  auto store = journal::open_store(path, {.durability = journal::Durability::Process});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  const auto image = image_of((*store)->journals(), run);
  inference::ScriptedModel model({});
  RealClock clock;
  runtime::Runtime runtime({.model = model, .clock = clock, .store = &(*store)->journals()}, {});
  const auto began = std::chrono::steady_clock::now();
  runtime::RunOptions options;
  options.model = "openai:bench";
  for (std::size_t done = 0; done < count; done += batch_size) {
    std::vector<runtime::RunId> batch;
    for (std::size_t at = done; at < std::min(count, done + batch_size); ++at) {
      const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch());
      batch.push_back(runtime.start_conversation(image, 0, options, journal::make_run_name(now.count())));
    }
    for (int turn = 0; turn <= turns; ++turn) {
      for (std::size_t at = 0; at < batch.size(); ++at) {
        const std::string input = turn == turns ? "ask" : fmt::format("Order {}, remark {}.", done + at, turn);
        ENSURE(runtime.prompt(batch[at], input).has_value());
      }
      runtime.run();
    }
    for (const runtime::RunId id : batch) {
      ENSURE(runtime.questions(id).size() == 1);
      runtime.release(id);
    }
    ENSURE((*store)->journals().maintain().has_value());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf(R"({"conversations":%zu,"seconds":%.1f})"
              "\n",
              count, seconds);
  return 0;
}
