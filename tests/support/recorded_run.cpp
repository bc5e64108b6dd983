#include "tests/support/recorded_run.h"

#include <algorithm>
#include <random>
#include <tuple>

#include "base/ensure.h"
#include "runtime/conversation.h"
#include "runtime/recording/run_journal.h"
#include "runtime/run_options.h"
#include "vm/values/context.h"

namespace tenon::test {
namespace {

/// Writes the journal of one run.
class Recorder {
 public:
  Recorder(journal::Store& store, const std::shared_ptr<const runtime::ProgramImage>& image,
           const RecordedAnswerer& answerer, const RecordOptions& options)
      : store_(store),
        image_(image),
        answerer_(answerer),
        options_(options),
        order_(options.order_seed),
        journal_(journal::make_run_name(next_time()), 0, 0) {
    run_options_.budgets = bytecode::complete(options.budgets, bytecode::default_bounds);
  }

  void start(effects::Started started) {
    journal_.keep_content(image_->bundle(), image_->hash(), journal::Sharing::Store);
    started.program = image_->hash();
    started.settings = runtime::to_settings(run_options_);
    add(std::move(started));
  }

  void run_function(const std::string& function, const std::string& arguments) {
    effects::Started started;
    started.function = function;
    started.arguments = journal_.keep(arguments);
    start(started);
    auto begun = runtime::read_start(*image_, started, arguments);
    ENSURE(begun.has_value());
    const std::uint32_t index = begun->function;
    runtime::RunCore core(image_, index, std::move(begun->arguments), run_options_.budgets,
                          runtime::RunCore::Recording::On);
    run(core, nullptr);
    effects::Ended ended;
    if (core.cancelled()) {
      ended.how = effects::Ended::How::Cancelled;
      ended.failure = {types::FailureKind::Cancelled, options_.cancel_reason, "", ""};
      if (!core.end()) return;
    } else if (core.end()) {
      std::tie(ended.how, ended.value, ended.failure) = end_of(core, index);
    } else if (!options_.cancel_reason.empty()) {
      add(effects::CancelWanted{options_.cancel_reason});
      ended.how = effects::Ended::How::Cancelled;
      ended.failure = {types::FailureKind::Cancelled, options_.cancel_reason, "", ""};
    } else {
      return;
    }
    add(std::move(ended));
  }

  void run_turns(const std::string& agent, const std::vector<std::string>& inputs) {
    effects::Started started;
    started.agent = agent;
    start(std::move(started));
    std::uint32_t index = 0;
    while (image_->program().agents.at(index).name != agent) ++index;
    runtime::Conversation conversation(image_, index);
    for (const std::string& input : inputs) {
      auto core = conversation.begin(input, run_options_, runtime::RunCore::Recording::On);
      ENSURE(core.has_value());
      add(effects::TurnStarted{conversation.turns(), agent, journal_.keep(input)});
      run(**core, &conversation);
      if (!(*core)->end()) return;
      effects::TurnEnded ended;
      ended.turn = conversation.turns();
      std::tie(ended.how, ended.value, ended.failure) = end_of(**core, conversation.declaration().turn);
      const auto* const finished = std::get_if<vm::Finished>(&*(*core)->end());
      static_cast<void>(conversation.end(**core, finished == nullptr ? nullptr : &finished->value));
      ended.agent = conversation.declaration().name;
      ended.state = journal_.keep(conversation.state());
      if (vm::context_length(conversation.history()) > 0)
        ended.conversation = journal_.keep_context(conversation.history());
      add(std::move(ended));
    }
  }

  journal::RunName finish() {
    const journal::RunName name = journal_.name();
    journal::RunSummary summary;
    summary.title = "recorded";
    const journal::Append append = journal_.take(std::move(summary));
    const auto committed = store_.commit({&append, 1});
    ENSURE(committed.has_value() && !committed->front());
    return name;
  }

 private:
  static std::int64_t next_time() {
    static std::int64_t time = 1'700'000'000'000;
    return ++time;
  }
  void add(effects::RecordBody body) {
    if (journal_.last() < options_.records_max) journal_.add({next_time(), std::move(body)});
  }

  std::tuple<effects::Ended::How, effects::StoredText, effects::FailureText> end_of(const runtime::RunCore& core,
                                                                                    std::uint32_t function) {
    const bytecode::Program& program = image_->program();
    if (const auto* const finished = std::get_if<vm::Finished>(&*core.end())) {
      std::string text;
      ENSURE(effects::write_value(finished->value, program.functions[function].result, program.types, text));
      return {effects::Ended::How::Returned, journal_.keep(std::move(text)), {}};
    }
    const vm::FailureReport& report = std::get<vm::Failed>(*core.end()).report;
    return {effects::Ended::How::Failed, {}, {report.kind, report.message, report.blame, report.place}};
  }

  void run(runtime::RunCore& core, runtime::Conversation* conversation) {
    for (;;) {
      runtime::RunCore::Advance advance = core.advance(UINT64_MAX);
      ENSURE(advance.is_quiescent);
      for (const std::string& key : advance.opened) {
        const runtime::OpenRequest& opened = *core.find(key);
        if (conversation != nullptr) conversation->follow_request(opened);
        open(opened, key);
      }
      if (core.end()) return;
      const auto notification = std::ranges::find_if(
          core.open(), [](const auto& entry) { return effects::is_notification(entry.second.described.kind); });
      if (notification != core.open().end()) {
        deliver(core, conversation, std::string(notification->first), {vm::ReturnedValue{vm::Value::unit()}, {}});
        continue;
      }
      std::vector<std::pair<std::string, vm::Outcome>> ready;
      for (const auto& [key, open] : core.open()) {
        if (auto outcome = answerer_(open)) ready.emplace_back(key, std::move(*outcome));
      }
      if (ready.empty()) {
        const effects::CancelWanted wanted{options_.cancel_reason, true};
        if (wanted.reason.empty() || !core.cancel(wanted)) return;
        add(wanted);
        continue;
      }
      const std::size_t chosen = options_.order_seed == 0 ? 0 : order_() % ready.size();
      deliver(core, conversation, ready[chosen].first, std::move(ready[chosen].second));
    }
  }

  void open(const runtime::OpenRequest& open, const std::string& key) {
    effects::Requested requested;
    requested.key = key;
    requested.kind = open.described.kind;
    requested.subject = open.described.subject;
    requested.request = open.described.identity;
    requested.context = open.described.context;
    requested.arguments = journal_.keep(open.described.arguments);
    if (effects::is_generation(requested.kind)) journal_.keep_context(open.request.context);
    add(std::move(requested));
  }

  void deliver(runtime::RunCore& core, runtime::Conversation* conversation, const std::string& key,
               vm::Outcome outcome) {
    const runtime::OpenRequest& open = *core.find(key);
    auto form = effects::write_outcome(outcome, open.request, image_->program());
    ENSURE(form.has_value());
    if (conversation != nullptr) conversation->follow_outcome(open, outcome, core.machine().labels());
    effects::Finished finished;
    finished.key = key;
    effects::record_outcome(std::move(*form), finished,
                            [&](std::string text) { return journal_.keep(std::move(text)); });
    finished.cost = effects::cost_of(outcome.usage);
    add(std::move(finished));
    core.deliver(key, std::move(outcome));
  }

  journal::Store& store_;
  std::shared_ptr<const runtime::ProgramImage> image_;
  const RecordedAnswerer& answerer_;
  const RecordOptions& options_;
  std::mt19937 order_;
  runtime::RunJournal journal_;
  runtime::RunOptions run_options_;
};

}  // namespace

runtime::ImageSource images_of(std::shared_ptr<const runtime::ProgramImage> image) {
  return [image = std::move(image)](const Hash&, std::string_view)
             -> Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError> { return image; };
}

journal::RunName record_run(journal::Store& store, const std::shared_ptr<const runtime::ProgramImage>& image,
                            const std::string& function, const std::string& arguments, const RecordedAnswerer& answerer,
                            const RecordOptions& options) {
  Recorder recorder(store, image, answerer, options);
  recorder.run_function(function, arguments);
  return recorder.finish();
}

journal::RunName record_conversation(journal::Store& store, const std::shared_ptr<const runtime::ProgramImage>& image,
                                     const std::string& agent, const std::vector<std::string>& inputs,
                                     const RecordedAnswerer& answerer, const RecordOptions& options) {
  Recorder recorder(store, image, answerer, options);
  recorder.run_turns(agent, inputs);
  return recorder.finish();
}

}  // namespace tenon::test
