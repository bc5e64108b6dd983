#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/label_sources.h"
#include "runtime/run_core.h"
#include "runtime/run_options.h"

namespace tenon::runtime {

/// Why a turn cannot begin.
struct TurnError {
  std::string message;
};

/// Why a prompt is refused.
struct PromptRefusal {
  enum class Kind : std::uint8_t { NoConversation, InTurn, WrongInput, OtherProgram };
  Kind kind = Kind::NoConversation;
  std::string message;
};

/// What an agent keeps between its turns: its state and the messages. Each turn runs on a separate machine, on the
/// context of instructions, conversation and input.
class Conversation {
 public:
  /// The prefix of the keys of a turn's requests: `2/` for the second turn.
  [[nodiscard]] static std::string key_prefix(std::uint64_t turn);

  Conversation(std::shared_ptr<const ProgramImage> image, std::uint32_t agent);

  [[nodiscard]] std::uint32_t agent() const { return agent_; }
  [[nodiscard]] const bytecode::Agent& declaration() const { return image_->program().agents[agent_]; }
  /// The number of turns that have begun.
  [[nodiscard]] std::uint64_t turns() const { return turns_; }
  [[nodiscard]] bool is_in_turn() const { return is_in_turn_; }

  /// Whether the agent's input is a text.
  [[nodiscard]] bool takes_text() const;
  /// Begins a turn. The machine has not run yet. `input`: a text type raw, the rest as JSON.
  [[nodiscard]] Result<std::unique_ptr<RunCore>, TurnError> begin(std::string_view input, const RunOptions& options,
                                                                  RunCore::Recording recording);
  /// The agent of that name continues the turn, and has those that follow.
  void hand_off(std::string_view agent);
  /// Of the current turn: hands off if the agent itself does.
  void follow_request(const OpenRequest& open);
  /// Of the current turn: adds what a person answers to the agent itself.
  /// `labels`: of the turn's machine.
  void follow_outcome(const OpenRequest& open, const vm::Outcome& outcome, const vm::LabelTable& labels);
  /// A person has answered the agent itself, in the current turn. `asked`: where the question comes from. Of a value
  /// that is approved, only `yes` is kept: it was approved for one use, not as what a person says in later turns.
  void add_answer(const vm::Request& question, Sources asked, const vm::Value& answer);
  /// What is kept of the agents' states, as JSON (effects/value_form.h).
  struct StateTexts {
    std::string state;                                 ///< of the agent that has the turn
    std::map<std::string, std::string> kept;           ///< of those that have handed it off, by name
    std::map<std::string, StateSources> sources = {};  ///< of all of them, by the agent's name
    Sources handoffs = {};                             ///< of what has decided who has the next turn
  };
  /// Ends the turn. `value`: the agent's answer; null when the turn has failed or was cancelled. A turn with an answer
  /// takes the machine's state; any other leaves the state, and the agent of the next turn, as they were before it.
  /// `failed`: by what it failed. After `ContextFull` its messages are left out of the conversation, which an entry
  /// says (blocks/left_out.h): they would make the prompts of the next turns as long.
  /// `states`: as `write_states` has written them before; nothing: they are as before the turn.
  void end(const RunCore& core, const vm::Value* value, std::optional<types::FailureKind> failed,
           std::optional<StateTexts> states);
  /// The same with the machine's states, if they can be written.
  void end(const RunCore& core, const vm::Value* value, std::optional<types::FailureKind> failed = std::nullopt);
  /// The machine's states. An error if one of them cannot be recorded.
  [[nodiscard]] Result<StateTexts, effects::ValueFormError> write_states(const RunCore& core) const;

  /// As JSON (effects/value_form.h).
  [[nodiscard]] const std::string& state() const { return state_; }
  /// The state that the agent of the current turn had before it; empty if it has the turn for the first time.
  [[nodiscard]] std::string state_before() const;
  /// The states of agents that have handed the turn off, by name, for when they get it back.
  [[nodiscard]] const std::map<std::string, std::string>& kept_states() const { return kept_states_; }
  /// The messages so far, as a context; instructions are not part of it.
  [[nodiscard]] const vm::Value& history() const { return history_; }

  /// Where what is kept comes from. A message of a person is that person's.
  struct Labels {
    /// From the history's entry with this number on, and up to the next one, what was answered and asked has these.
    struct Answers {
      std::uint32_t from = 0;
      Sources sources;
    };
    std::vector<Answers> answers;
    std::map<std::string, StateSources> states = {};  ///< by the agent's name
    Sources handoffs = {};                            ///< of what has decided who has the turn
    Sources questions = {};                           ///< of what has decided whether a person was asked
    std::map<std::uint32_t, Sources> replies = {};    ///< likewise, of a person's answers: by the history's entry
  };
  [[nodiscard]] const Labels& labels() const { return labels_; }
  /// Before `restore`. None: they were not recorded, and where what is kept comes from is unknown.
  void restore_labels(std::optional<Labels> labels);
  /// Adds the next entry to a history; nothing, and false, when it would be too long. `context`: labelled by this.
  [[nodiscard]] bool add_entry(vm::Value& context, std::string text, bytecode::EntryRole role);

  /// Continues from what a journal has recorded.
  void restore(std::uint64_t turns, std::string state, std::map<std::string, std::string> kept_states,
               vm::Value history);

  /// Another program continues from the next turn on, with the same agent: its messages are kept, and the state is read
  /// as the new program has it, or converted by one of the program's migrations. An error, for people in several lines,
  /// if there is none that fits; nothing has changed then. Not within a turn.
  [[nodiscard]] Result<void, TurnError> upgrade_program(std::shared_ptr<const ProgramImage> image);
  /// The same, as it was recorded. False when the program has no such agent.
  [[nodiscard]] bool restore_program(std::shared_ptr<const ProgramImage> image, std::string_view agent);
  /// The hash of the program that the conversation was upgraded to; null as long as it was not upgraded.
  [[nodiscard]] const Hash* taken_program() const { return is_taken_over_ ? &image_->hash() : nullptr; }
  [[nodiscard]] const std::shared_ptr<const ProgramImage>& image() const { return image_; }

  /// As a turn's end was recorded.
  void restore_state(std::string state) {
    state_ = std::move(state);
    state_pieces_.reset();
  }
  /// How the journal keeps the state.
  void note_state(const effects::StoredText& kept) { state_pieces_ = kept.is_in_pieces ? kept.hash : std::nullopt; }
  /// The list of the pieces in which the store has the state (effects/pieces.h); nothing if it is not kept so.
  [[nodiscard]] const std::optional<Hash>& state_pieces() const { return state_pieces_; }

  struct Message {
    bytecode::EntryRole role = bytecode::EntryRole::Person;
    std::string text;
    Sources sources;  ///< of what the agent says, and of that the message is there; a person's have the person, too
  };
  /// In the current turn.
  [[nodiscard]] const std::vector<Message>& turn_messages() const { return turn_messages_; }
  void restore_turn(std::vector<Message> messages);
  /// The agent that has the turn unless it is handed off.
  [[nodiscard]] const bytecode::Agent& agent_before() const { return image_->program().agents[agent_before_]; }
  void restore_agent_before(std::string_view agent);

 private:
  [[nodiscard]] Result<vm::Value, TurnError> current_state() const;
  [[nodiscard]] Result<std::vector<vm::Value>, TurnError> read_kept_states() const;
  /// As the program has them now; a failure when one cannot be read by it.
  [[nodiscard]] Result<std::map<std::string, std::string>, std::string> migrate_kept_states(
      const ProgramImage& image) const;
  [[nodiscard]] Result<vm::Value, TurnError> instructions(const vm::Value& state, vm::LabelTable& labels) const;
  void say(const Message& message);
  void migrate_labels(const ProgramImage& image);
  [[nodiscard]] std::uint32_t find_agent(std::string_view name, std::uint32_t otherwise) const;
  [[nodiscard]] std::string shown(const vm::Value& value, vm::LabelTable labels) const;

  std::shared_ptr<const ProgramImage> image_;
  std::uint32_t agent_ = 0;
  std::uint32_t agent_before_ = 0;  ///< as the turn began, or as the newest one has ended
  bool is_taken_over_ = false;
  std::uint64_t turns_ = 0;
  bool is_in_turn_ = false;
  std::string state_;  ///< empty before the first turn
  std::optional<Hash> state_pieces_;
  std::map<std::string, std::string> kept_states_;
  vm::Value history_;
  Labels labels_;
  vm::LabelTable label_table_;  ///< of the history
  std::vector<Message> turn_messages_;
};

}  // namespace tenon::runtime
