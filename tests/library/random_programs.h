#pragma once

// Random calls of what describes and tests programs, and of outcomes, events and questions.
#include <tenon/tenon.h>

#include <cstddef>
#include <cstdint>

#include "random_support.h"

namespace {

void free_outcome(tenon_outcome* outcome) {
  if (outcome == nullptr) return;
  const tenon_run_state state = tenon_outcome_state(outcome);
  if (state == TENON_RUN_RUNNING) give_up("an outcome of a running run");
  const bool has_value = tenon_outcome_value(outcome).length > 0;
  if (has_value != (state == TENON_RUN_RETURNED)) give_up("a value does not fit its outcome");
  if (state == TENON_RUN_FAILED && tenon_outcome_message(outcome).length == 0) give_up("a failure says nothing");
  static_cast<void>(tenon_outcome_kind(outcome));
  static_cast<void>(tenon_outcome_blame(outcome));
  tenon_outcome_free(outcome);
}

/// Returns the number of its run.
std::uint64_t free_event(tenon_event* event) {
  if (event == nullptr) return 0;
  if (tenon_event_json(event).length == 0 || tenon_event_type(event).length == 0) give_up("an event says nothing");
  const std::uint64_t run = tenon_event_run(event);
  tenon_event_free(event);
  return run;
}

void take_questions(tenon_run* run) {
  tenon_question_list* list = nullptr;
  done([&](tenon_error** error) { return tenon_run_open_questions(run, &list, error); });
  tenon_question question = {};
  question.size = sizeof question;
  for (std::size_t at = 0; tenon_question_at(list, at, &question); ++at) {
    if (question.wait.length == 0 || question.schema.length == 0) give_up("a question has no name");
  }
  tenon_question_list_free(list);
}

/// The whole description, and what follows it.
void describe(const tenon_program* program) {
  tenon_description* const description = tenon_program_description(program);
  tenon_callable callable = {};
  tenon_member member = {};
  tenon_type type = {};
  callable.size = sizeof callable;
  member.size = sizeof member;
  type.size = sizeof type;
  for (std::int32_t list = TENON_FUNCTIONS; list <= TENON_EXTERNS + 1; ++list) {
    for (std::size_t at = 0; tenon_description_callable(description, list, at, &callable); ++at) {
      for (std::size_t parameter = 0; parameter < callable.parameters; ++parameter) {
        if (!tenon_description_parameter(description, list, at, parameter, &member)) give_up("a parameter is missing");
      }
      if (tenon_description_parameter(description, list, at, callable.parameters, &member)) give_up("too many");
    }
  }
  for (std::size_t at = 0; tenon_description_type(description, at, &type); ++at) {
    for (std::size_t which = 0; which < type.members; ++which) {
      if (!tenon_description_member(description, at, which, &member)) give_up("a member is missing");
      std::size_t payload = 0;
      for (std::size_t index = 0; index < member.payload; ++index) {
        if (!tenon_description_payload(description, at, which, index, &payload)) give_up("a payload is missing");
      }
      if (tenon_description_payload(description, at, which, member.payload, &payload)) give_up("too much");
    }
  }
  tenon_description_free(description);
}

void use_program(tenon_program* program, Random& random) {
  tenon_string* text = nullptr;
  switch (random() % 6) {
    case 0:
      return describe(program);
    case 1:
      text = tenon_program_describe(program);
      break;
    case 2: {
      tenon_problem warning = {};
      warning.size = sizeof warning;
      for (std::size_t at = 0; tenon_program_warning(program, at, &warning); ++at) {
        if (warning.severity != TENON_WARNING) give_up("a warning is none");
      }
      text = tenon_program_warnings(program);
      break;
    }
    case 3:
      text = tenon_program_tests(program);
      break;
    case 4:
      done([&](tenon_error** error) {
        return tenon_program_run_test(program, random() % 3, random() % 2 * TENON_TEST_INTERRUPTED, &text, error);
      });
      break;
    default: {
      static constexpr const char* forms[] = {"svg", "dot", "json", "png"};
      done([&](tenon_error** error) { return tenon_program_graph(program, forms[random() % 4], &text, error); });
      break;
    }
  }
  static_cast<void>(tenon_string_text(text));
  tenon_string_free(text);
}

}  // namespace
