// Another program continues a conversation.

#include <fmt/format.h>

#include "runtime/recovery.h"
#include "runtime/runtime.h"

namespace tenon::runtime {

Result<void, PromptRefusal> Runtime::upgrade_program(RunId id, std::shared_ptr<const ProgramImage> image,
                                                     std::vector<std::string> libraries) {
  Run& run = runs_[id.index];
  if (!run.conversation || run.end) {
    return failure(PromptRefusal{
        PromptRefusal::Kind::NoConversation,
        run.end ? "the conversation has ended"
                : "a run of a function ends on the program that it began with; `tenon fork --program` begins another"});
  }
  if (image->hash() == run.image->hash()) return {};
  if (run.conversation->is_in_turn()) {
    return failure(PromptRefusal{PromptRefusal::Kind::InTurn,
                                 "a turn ends on the program that it began with; another one can take over after it"});
  }
  auto secret_key = prepare_secrets(*image);
  if (!secret_key) return failure(PromptRefusal{PromptRefusal::Kind::OtherProgram, secret_key.error().message});
  if (auto taken = run.conversation->upgrade_program(image); !taken) {
    return failure(PromptRefusal{PromptRefusal::Kind::OtherProgram, std::move(taken.error().message)});
  }
  run.image = std::move(image);
  run.function = run.conversation->declaration().turn;
  effects::ProgramTaken taken;
  taken.program = run.journal.keep_program(*run.image);
  taken.agent = run.conversation->declaration().name;
  taken.added_entries = run.conversation->declaration().added_entries;
  taken.state = run.journal.keep(run.conversation->state());
  taken.libraries = std::move(libraries);
  taken.secret_key = std::move(*secret_key);
  run.journal.add({now_ms(), std::move(taken)});
  if (run.journal.is_stored()) run.journal.set_snapshot(write_snapshot(run.conversation.get(), nullptr));
  enqueue(id);
  return {};
}

}  // namespace tenon::runtime
