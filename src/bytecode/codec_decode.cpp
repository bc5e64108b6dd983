#include <bit>
#include <optional>

#include "base/wire.h"
#include "bytecode/codec.h"
#include "bytecode/codec_fields.h"
#include "bytecode/codec_reading.h"
#include "bytecode/verifier.h"

namespace tenon::bytecode {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;
using wire::Reader;

Constant read_constant(Reader& in) {
  Constant constant;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        constant = message.value_up_to(1) != 0;
        return true;
      case 2:
        constant = static_cast<std::int64_t>(message.fixed_value());
        return true;
      case 3:
        constant = std::bit_cast<double>(message.fixed_value());
        return true;
      case 4:
        constant = read_text(message);
        return true;
      default:
        return false;
    }
  });
  return constant;
}

bool read_code(std::string_view bytes, std::vector<Instruction>& code) {
  Reader packed(bytes);
  while (packed.is_good() && !packed.is_at_end()) {
    const std::uint64_t word = packed.fixed64();
    code.push_back({static_cast<std::uint16_t>(word), static_cast<std::uint16_t>(word >> 16U),
                    static_cast<std::uint16_t>(word >> 32U), static_cast<std::uint16_t>(word >> 48U)});
  }
  return packed.is_good();
}

bool read_handlers(std::string_view bytes, std::vector<Handler>& handlers) {
  Reader packed(bytes);
  while (packed.is_good() && !packed.is_at_end()) {
    Handler handler;
    handler.begin = packed.varint32();
    handler.end = packed.varint32();
    handler.target = packed.varint32();
    handler.failure = read_number16(packed);
    handler.budget_depth = read_number16(packed);
    handlers.push_back(handler);
  }
  return packed.is_good();
}

bool read_finally_handlers(std::string_view bytes, std::vector<FinallyHandler>& cleanups) {
  Reader packed(bytes);
  while (packed.is_good() && !packed.is_at_end()) {
    FinallyHandler cleanup;
    cleanup.begin = packed.varint32();
    cleanup.block = packed.varint32();
    cleanup.end = packed.varint32();
    cleanup.kept = read_number16(packed);
    cleanup.budget_depth = read_number16(packed);
    cleanups.push_back(cleanup);
  }
  return packed.is_good();
}

bool read_lines(std::string_view bytes, std::vector<LineEntry>& lines) {
  Reader packed(bytes);
  while (packed.is_good() && !packed.is_at_end()) {
    LineEntry line;
    line.pc = packed.varint32();
    line.place.file = packed.varint32();
    line.place.line = packed.varint32();
    line.place.column = packed.varint32();
    lines.push_back(line);
  }
  return packed.is_good();
}

/// Where the variables are that were named before.
bool read_variables(std::string_view bytes, std::vector<VariableName>& variables) {
  Reader packed(bytes);
  for (VariableName& variable : variables) {
    variable.at = read_number16(packed);
    variable.begin = packed.varint32();
    variable.end = packed.varint32();
  }
  return packed.is_good() && packed.is_at_end();
}

Function read_function(Reader& in) {
  Function function;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        function.name = read_text(message);
        return true;
      case 2:
        function.documentation = read_text(message);
        return true;
      case 3:
        function.place = read_place(message);
        return true;
      case 4:
        function.parameter_names.push_back(read_text(message));
        return true;
      case 5:
        function.parameters = read_types(message);
        return true;
      case 6:
        function.result = {message.value32()};
        return true;
      case 7:
        function.register_count = static_cast<std::uint16_t>(message.value_up_to(UINT16_MAX));
        return true;
      case 8:
        function.context_register = static_cast<std::uint16_t>(message.value_up_to(UINT16_MAX));
        return true;
      case 9:
        return read_code(message.bytes_value(), function.code);
      case 10:
        return read_handlers(message.bytes_value(), function.handlers);
      case 11:
        return read_lines(message.bytes_value(), function.lines);
      case 12:
        function.agent = message.value32();
        return true;
      case 13:
        function.is_agent_run = message.value_up_to(1) != 0;
        return true;
      case 80:
        return read_finally_handlers(message.bytes_value(), function.finally_handlers);
      case 81:
        function.parameter_documentation.push_back(read_text(message));
        return true;
      case 82:
        function.variables.push_back({read_text(message), 0, 0, 0});
        return true;
      case 83:
        return read_variables(message.bytes_value(), function.variables);
      case 84:
        function.result_documentation = read_text(message);
        return true;
      default:
        return false;
    }
  });
  return function;
}

Extern read_extern(Reader& in) {
  Extern callee;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        callee.name = read_text(message);
        return true;
      case 2:
        callee.documentation = read_text(message);
        return true;
      case 3:
        callee.place = read_place(message);
        return true;
      case 4:
        callee.parameter_names.push_back(read_text(message));
        return true;
      case 5:
        callee.parameters = read_types(message);
        return true;
      case 6:
        callee.result = {message.value32()};
        return true;
      case 7:
        callee.builtin_effect = static_cast<types::BuiltinEffect>(message.value_up_to(types::builtin_effect_count - 1));
        return true;
      case 40:
        callee.call_options.is_once = message.value_up_to(1) == 1;
        return true;
      case 41:
        callee.call_options.is_process = message.value_up_to(1) == 1;
        return true;
      case 42:
        if (const std::uint64_t within = message.value(); within > 0) callee.call_options.within_ms = within;
        return true;
      case 43:
        callee.parameter_documentation.push_back(read_text(message));
        return true;
      case 44:
        callee.call_options.acts = message.value_up_to(1) == 1;
        return true;
      case 45: {
        Reader packed(message.bytes_value());
        while (packed.is_good() && !packed.is_at_end()) {
          const std::uint64_t parameter = packed.varint32();
          if (parameter >= callee.parameters.size()) return false;
          callee.trusted_parameters.push_back(static_cast<std::uint16_t>(parameter));
        }
        return packed.is_good();
      }
      case 46:
        callee.is_vouched = message.value_up_to(1) == 1;
        return true;
      case 47:
        callee.approval = message.value32() - 1U;
        return true;
      default:
        return false;
    }
  });
  return callee;
}

Agent read_agent(Reader& in) {
  Agent agent;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        agent.name = read_text(message);
        return true;
      case 2:
        agent.documentation = read_text(message);
        return true;
      case 3:
        agent.place = read_place(message);
        return true;
      case 4:
        agent.state = {message.value32()};
        return true;
      case 5:
        agent.turn = message.value32();
        return true;
      case 6:
        agent.initial_state = message.value32();
        return true;
      case 7:
        agent.instructions = message.value32();
        return true;
      case 50:
        agent.run = message.value32();
        return true;
      case 51:
        agent.take_over = message.value32();
        return true;
      case 52:
        agent.added_entries.push_back(read_text(message));
        return true;
      default:
        return false;
    }
  });
  return agent;
}

CallShape read_call(Reader& in) {
  CallShape call;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
      case 2:
      case 3:
        (number == 1 ? call.name : number == 2 ? call.documentation : call.signature) = read_text(message);
        return true;
      case 4:
        call.parameter_names.push_back(read_text(message));
        return true;
      case 5:
        call.parameters = read_types(message);
        return true;
      case 6: {
        Reader packed(message.bytes_value());
        while (packed.is_good() && !packed.is_at_end()) call.holes.push_back(read_number16(packed));
        return packed.is_good();
      }
      case 7:
        call.given.push_back(read_text(message));
        return true;
      case 8:
        call.parameter_documentation.push_back(read_text(message));
        return true;
      default:
        return false;
    }
  });
  return call;
}

Clause read_clause(Reader& in) {
  Clause clause;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        clause.call = read_call(message);
        return true;
      case 2:
        clause.binding = read_text(message);
        return true;
      case 3:
        clause.is_else = message.value_up_to(1) != 0;
        return true;
      case 70:
        clause.is_set = message.value_up_to(1) != 0;
        return true;
      default:
        return false;
    }
  });
  return clause;
}

Site read_site(Reader& in) {
  Site site;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        site.kind = static_cast<SiteKind>(message.value_up_to(static_cast<std::uint64_t>(SiteKind::Select)));
        return true;
      case 2:
        site.place = read_place(message);
        return true;
      case 3:
        site.function = message.value32();
        return true;
      case 4:
        site.result = {message.value32()};
        return true;
      case 5:
        site.call = read_call(message);
        return true;
      case 6:
        site.clauses.push_back(read_clause(message));
        return true;
      case 85:
        site.narrow_bits = message.value32() - 1U;
        return true;
      case 84:
        site.is_short = message.value_up_to(1) == 1;
        return true;
      case 83:
        site.is_judge = message.value_up_to(1) == 1;
        return true;
      case 82:
        site.is_attempt = message.value_up_to(1) == 1;
        return true;
      case 81: {
        const std::uint32_t guard = message.value32();
        site.guard = guard == 0 ? no_function : guard - 1;
        return true;
      }
      case 80:
        site.is_sampled = message.value_up_to(1) == 1;
        return true;
      default:
        return false;
    }
  });
  return site;
}

Tool read_tool(Reader& in) {
  Tool tool;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        tool.call = read_call(message);
        return true;
      case 2: {
        Reader packed(message.bytes_value());
        while (packed.is_good() && !packed.is_at_end()) tool.given.push_back(read_number16(packed));
        return packed.is_good();
      }
      case 3:
        tool.function = message.value32();
        return true;
      case 4:
        tool.record = {message.value32()};
        return true;
      case 5:
        tool.place = read_place(message);
        return true;
      case 6:
        tool.function_in_parts = message.value32();
        return true;
      default:
        return false;
    }
  });
  return tool;
}

JumpTable read_table(Reader& in) {
  JumpTable table;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1: {
        Reader packed(message.bytes_value());
        while (packed.is_good() && !packed.is_at_end()) table.targets.push_back(packed.varint32());
        return packed.is_good();
      }
      case 2:
        table.otherwise = message.value32();
        return true;
      default:
        return false;
    }
  });
  return table;
}

Budget read_budget(Reader& in) {
  Budget budget;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    if (number == budget_bits) {
      budget.bounds.bits = message.value();
      return true;
    }
    if (number != 1) return read_bound(message, budget_fields, budget.bounds);
    budget.place = read_place(message);
    return true;
  });
  return budget;
}

ScriptedAnswer read_answer(Reader& in) {
  ScriptedAnswer answer;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        answer.kind = static_cast<RequestKind>(message.value_up_to(static_cast<std::uint64_t>(RequestKind::Extern)));
        return true;
      case 2:
        answer.callee = read_text(message);
        return true;
      case 3:
        answer.answer = read_text(message);
        return true;
      case 4:
        answer.fails = message.value_up_to(1) != 0;
        return true;
      case 5:
        answer.contained.push_back(read_text(message));
        return true;
      case 6:
        answer.arguments.push_back(read_text(message));
        return true;
      case 90:
        answer.place = read_place(message);
        return true;
      default:
        return false;
    }
  });
  return answer;
}

TestCase read_test(Reader& in) {
  TestCase test;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    switch (number) {
      case 1:
        test.name = read_text(message);
        return true;
      case 2:
        test.place = read_place(message);
        return true;
      case 3:
        test.function = message.value32();
        return true;
      case 4:
        test.answers.push_back(read_answer(message));
        return true;
      default:
        return false;
    }
  });
  return test;
}

SourceText read_source(Reader& in) {
  SourceText source;
  read_message(in, [&](Reader& message, std::uint32_t number) {
    // A path and a text are the user's, and may be no UTF-8.
    switch (number) {
      case 1:
        source.path = message.bytes_value();
        return true;
      case 2:
        source.text = message.bytes_value();
        return true;
      default:
        return false;
    }
  });
  return source;
}

}  // namespace

Result<Program, DecodeError> decode(std::string_view bytes) {
  Program program;
  program.messages = MessageVersion::First;
  program.awaits_once_calls = false;
  TypeReader type_reader;
  Reader in(bytes);
  bool has_format = false;
  std::uint64_t format = 0;
  while (in.next_field()) {
    if (!has_format && in.number() != 1) break;
    switch (in.number()) {
      case 1:
        format = in.value();
        if (has_format) in.reject();
        has_format = true;
        if (in.is_good() && format != program_format) {
          return failure(DecodeError{"the program has format " + std::to_string(format) +
                                     ", but this version of Tenon reads format " + std::to_string(program_format)});
        }
        break;
      case 2:
        program.sources.push_back(read_source(in));
        break;
      case 3:
        type_reader.read(in, program.types);
        break;
      case 4:
        program.constants.push_back(read_constant(in));
        break;
      case 5:
        program.functions.push_back(read_function(in));
        break;
      case 6:
        program.externs.push_back(read_extern(in));
        break;
      case 7:
        program.sites.push_back(read_site(in));
        break;
      case 8:
        program.jump_tables.push_back(read_table(in));
        break;
      case 9:
        program.budgets.push_back(read_budget(in));
        break;
      case 10:
        program.tests.push_back(read_test(in));
        break;
      case 11:
        program.agents.push_back(read_agent(in));
        break;
      case 70:
        program.tools.push_back(read_tool(in));
        break;
      case 71:
        program.messages = static_cast<MessageVersion>(in.value_up_to(static_cast<std::uint64_t>(newest_messages)));
        break;
      case 72:
        program.awaits_once_calls = in.value_up_to(1) == 1;
        break;
      case 73:
        program.trusts_person = in.value_up_to(1) == 1;
        break;
      default:
        in.reject();
    }
  }
  if (!in.is_good() || !has_format) return failure(DecodeError{"the bytes are not a program"});
  if (auto verified = verify(program); !verified) return failure(DecodeError{describe(verified.error())});
  return program;
}

}  // namespace tenon::bytecode
