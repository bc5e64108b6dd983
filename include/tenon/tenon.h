#pragma once

/*
 * tenon/tenon.h: runs Tenon programs within a process. C99 and C++11; link with libtenon. The guide is
 * docs/guides/library.md; tenon/tenon.hpp is a C++ layer on top, and tenon/extern.h has the values.
 *
 *   tenon_error* error = NULL;
 *   tenon_options* options = tenon_options_new();
 *   tenon_options_set(options, "model", "script:answers.txt", &error);
 *   tenon_engine* engine = NULL;
 *   if (tenon_engine_open(options, &engine, &error) != TENON_OK) ...
 *   tenon_program* program = NULL;
 *   if (tenon_program_load(engine, "desk.tn", NULL, &program, &error) != TENON_OK) ...
 *   tenon_run* run = NULL;
 *   if (tenon_run_start(program, "triage", tenon_text_of("{\"message\": \"Hello\"}"), 0, &run, &error) != TENON_OK) ...
 *   if (tenon_run_wait(run, TENON_FOREVER, NULL, &error) != TENON_OK) ...
 *   tenon_outcome* outcome = NULL;
 *   if (tenon_run_outcome(run, &outcome, &error) != TENON_OK) ...
 *   puts(tenon_outcome_value(outcome).data);
 *
 * Rules for everything here:
 *  - A function that can fail returns a status. Unless it is TENON_OK or TENON_NOT_YET, nothing was done, and
 *    `*error` is an error to be freed, unless `error` is NULL; otherwise `*error` is left as it is. Nothing is ever
 *    printed, and the process is never ended. What it returns through other pointers is NULL or 0 then (a descriptor is
 *    -1), also after TENON_NOT_YET, where nothing else is said.
 *  - A handle, or a pointer for a result, that is NULL where it may not be is TENON_USAGE; so is a call of an extern
 *    where one of `tenon_call_new` is expected. Functions without a status do nothing then, or return an empty text,
 *    NULL or 0.
 *  - A struct with a member `size` may be one of an earlier version: members that it does not have count as NULL.
 *  - An engine and everything of it can be used from any thread, and by several at once; a single object is freed when
 *    no other thread uses it. Objects may be freed in any order, and NULL may be freed.
 *  - A function that waits continues the runs of the engine on its own thread meanwhile. So externs and models of the
 *    host may be called on any thread that is in a function of this header, and on the engine's own thread, if it has
 *    one. They may not use the engine they are called from, except to complete what they were called for: that is
 *    TENON_CONFLICT, as it is within a function that receives notices.
 *  - An exception that a function of the host throws fails the call or the answer that it was called for, also one that
 *    it has deferred, which is still to be finished; a generation has ended then. What a hook, a notice, a reply or a
 *    `release` throws is ignored, except that no call is made after a `before_calls` that has thrown.
 *  - With a timeout of 0 such a function waits for nothing, and takes a turn: each run that can continue gets a slice,
 *    and what it asks for is performed if that can be done at once. Called again and again it continues the runs, too.
 *    An engine with a thread of its own (tenon_engine_start_thread, tenon_engine_descriptor) needs no turns.
 *  - Where nothing else is said, a function may wait for the engine: while it executes a slice of a run, at most. These
 *    do not: tenon_call_new and what writes arguments, tenon_run_start and tenon_call_start with TENON_START_LATER,
 *    tenon_call_begin, tenon_next_stops without a timeout, tenon_call_value and tenon_run_outcome of a run that was
 *    reported as ended and has no events, tenon_run_free, tenon_finish, and the functions of a generation.
 *  - Texts are UTF-8. Texts from Tenon end with a NUL, which `length` does not count, and are valid as long as the
 *    object that they come from.
 *  - After a fork, the child gets TENON_FORKED from everything that its parent has opened.
 */

#include <tenon/extern.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define TENON_API __declspec(dllimport)
#else
#define TENON_API __attribute__((visibility("default")))
#endif

/* The version of this interface, which only grows: a program that was built for version n runs with n and later. */
#define TENON_ABI 1u
/* The version that the library has, and its release, such as "0.1.0". */
TENON_API uint32_t tenon_abi(void);
TENON_API const char* tenon_version(void);

/* New statuses may be added. */
typedef int32_t tenon_status;
enum {
  TENON_OK = 0,
  TENON_NOT_YET = 1,     /* no failure: what is waited for or looked for has not happened, within the timeout if any */
  TENON_USAGE = 2,       /* a setting is invalid, or the program has no such function or agent */
  TENON_PROGRAM = 3,     /* the program, its externs or its manifest have errors */
  TENON_NOT_FOUND = 4,   /* no such run, question or store */
  TENON_CONFLICT = 5,    /* the state of the run or of the engine does not allow it */
  TENON_WRONG_INPUT = 6, /* an argument, an answer or a prompt does not have the expected type */
  TENON_IN_USE = 7,      /* another process owns the store */
  TENON_FAILED = 8,      /* a file, a model, the store or a key fails; a run that fails is TENON_RUN_FAILED */
  TENON_INTERNAL = 9,    /* a bug in Tenon: the engine can only be closed; what was durable can be resumed */
  TENON_FORKED = 10      /* the engine belongs to the parent of this process */
};

typedef struct tenon_options tenon_options;
typedef struct tenon_engine tenon_engine;
typedef struct tenon_program tenon_program;
typedef struct tenon_run tenon_run;
typedef struct tenon_event tenon_event;
typedef struct tenon_outcome tenon_outcome;
typedef struct tenon_string tenon_string;
typedef struct tenon_error tenon_error;
typedef struct tenon_generation tenon_generation;

/* Milliseconds. */
#define TENON_FOREVER UINT64_MAX

static inline tenon_text tenon_text_of(const char* text) {
  tenon_text whole;
  whole.data = text == NULL ? "" : text;
  whole.length = strlen(whole.data);
  return whole;
}

/* A text that a function has made. */
TENON_API tenon_text tenon_string_text(const tenon_string* string);
TENON_API void tenon_string_free(tenon_string* string);

/* --- Errors --------------------------------------------------------------------------------------------------- */

/* An error may be NULL, if there was no memory for it: that is TENON_FAILED with the message `out of memory`. */
TENON_API tenon_status tenon_error_status(const tenon_error* error);
/* The whole error for people, on one or more lines; the errors of a program as `tenon check` prints them. */
TENON_API tenon_text tenon_error_message(const tenon_error* error);
/* An object: `status` as a text, `message`, `setting` if one is invalid, and `problems`, a list of objects with
 * `severity`, `code`, `message`, `path`, `line`, `column` and `text`. */
TENON_API tenon_text tenon_error_json(const tenon_error* error);
TENON_API void tenon_error_free(tenon_error* error);

/* An error, a warning or a note about a program, its externs or its manifest. Here and below: the caller sets `size`,
 * and the function sets the members within it; the texts are those of the handle. */
enum { TENON_ERROR = 0, TENON_WARNING = 1, TENON_NOTE = 2 };
typedef struct tenon_problem {
  size_t size;
  int32_t severity;
  uint32_t line, column; /* from 1; 0: the whole file */
  tenon_text code;       /* as `tenon explain` takes it; may be empty */
  tenon_text message;
  tenon_text path; /* empty: of no file */
  tenon_text text; /* as `tenon check` prints it: whole lines, with source lines and hints */
} tenon_problem;
/* False: there are fewer. */
TENON_API bool tenon_error_problem(const tenon_error* error, size_t index, tenon_problem* problem);

/* --- Options -------------------------------------------------------------------------------------------------- */

TENON_API tenon_options* tenon_options_new(void);
TENON_API void tenon_options_free(tenon_options* options);

/* Sets an option of the engine. Those of `tenon run` have the same values (docs/guides/command_line.md):
 *   model, judge, threads, context-tokens, temperature, seed, max-tokens, timeout-ms, raw-prompts, record
 *   store, durability, reports
 *   prompts, repair, extern (a library; may be set several times), extern-threads
 *   memory-mb (megabytes of values of all runs together)
 *   report-library (the path of the library of std::report; default: tenon_report.so beside libtenon, if it is there)
 * What is not set comes from the manifest of the first program, or has a default. */
TENON_API tenon_status tenon_options_set(tenon_options* options, const char* name, const char* value,
                                         tenon_error** error);

/* Gives Tenon a secret that it otherwise reads from the environment variable NAME: OPENAI_API_KEY, the key of a model,
 * or TENON_SECRET_KEY, the key of the store's secrets. It is never printed or recorded. */
TENON_API tenon_status tenon_options_set_secret(tenon_options* options, const char* name, const char* value,
                                                tenon_error** error);

/* Receives sentences for the operator, such as the progress of a download, on any thread. */
typedef void (*tenon_notice_function)(void* user, bool is_warning, tenon_text text);
TENON_API void tenon_options_on_notice(tenon_options* options, tenon_notice_function function, void* user);

/* Performs the extern NAME of the programs. The function reads the arguments and stores the result as a function of a
 * library does (tenon/extern.h); to complete the call later, it calls `tenon_defer`. `release` is called with `user`
 * when neither the options nor an engine needs it any more; it may be NULL. */
typedef void (*tenon_host_function)(tenon_call* call, void* user);
TENON_API void tenon_options_add_extern(tenon_options* options, const char* name, tenon_host_function function,
                                        void* user, void (*release)(void* user));

/* What a host is notified of besides. Each may be NULL. */
typedef struct tenon_extern_hooks {
  uint32_t size; /* bytes of this struct */
  /* Before and after several externs are called one after the other, on the same thread: a host with an interpreter
   * lock takes it once for all of them. */
  void (*before_calls)(void* user);
  void (*after_calls)(void* user);
  /* The result of a deferred call is not needed any more. Any thread may be finishing it meanwhile, so the pointer only
   * identifies the call: it is not read. */
  void (*cancelled)(void* user, const tenon_call* call);
} tenon_extern_hooks;
/* The rest is as for tenon_options_add_extern. */
TENON_API void tenon_options_set_extern_hooks(tenon_options* options, const tenon_extern_hooks* hooks, void* user,
                                              void (*release)(void* user));

/* The command that performs the externs that are declared `process`, each in a process of its own: the path of a
 * program, its arguments, and NULL. It returns what `tenon_extern_worker` returns as its exit code, and does nothing
 * else. Without a command it is the program tenon_extern_worker beside libtenon; if that is missing, calls of such
 * externs fail. */
TENON_API void tenon_options_set_worker(tenon_options* options, const char* const* command);
TENON_API int tenon_extern_worker(void);

/* Within a host function: the call continues after the function has returned, and its handles and texts stay valid,
 * for one thread at a time, until `tenon_finish`. If this returns false, the call has failed and is not deferred. */
TENON_API bool tenon_defer(tenon_call* call);
/* Whether the work of a deferred call may begin now. A host that begins it later than `tenon_defer` asks first: where
 * several processes own the runs of a store, this one may have lost the run meanwhile, and another one may make the
 * call. False, also if the call was cancelled: it is completed without its work, after tenon_fail_unavailable. */
TENON_API bool tenon_may_begin(tenon_call* call);
/* Within a host function: whether no run could continue meanwhile, the call has no time limit, the extern's last call
 * took less than 0.2 ms, and this thread does more than take a turn. A host that performs its functions on threads of
 * its own spares the change of thread. */
TENON_API bool tenon_is_lone(const tenon_call* call);
/* Within a host function, for a lone call that may block all the same: `function` is called in its place, after it has
 * returned and on the same thread, while other threads use the engine and continue its runs. It completes the call as a
 * host function does, but cannot defer it, and may not use the engine either. The call may be cancelled meanwhile. If
 * this returns false, nothing was done, and the host function performs the call itself: the call is not lone, another
 * one is performed so, the engine is that of a tenon_host or is being stopped, or an argument is nested too deep. */
TENON_API bool tenon_perform_outside(tenon_call* call, tenon_host_function function, void* user);
/* Completes a deferred call, with its result or its failure. Once for each deferred call, from any thread, even if the
 * call was cancelled (`tenon_is_cancelled`) or its engine was closed; then the call is invalid. Does nothing if the
 * call was not deferred. */
TENON_API void tenon_finish(tenon_call* call);

/* A model of the host. `start` begins an answer and does not wait for it. `request` is an object, valid during the
 * call: `label`, the function that is completed or filled; `messages`, each with `role` and `text`; for a typed answer
 * `schema` with `name` and `json_schema`; `temperature`, `seed`, `tokens_max`, `timeout_ms`. `cancel` says that the
 * answer is not needed any more; it may be NULL. A generation that another thread ends meanwhile is valid until
 * `cancel` returns. */
typedef struct tenon_model {
  uint32_t size; /* bytes of this struct */
  void (*start)(void* user, tenon_generation* generation, tenon_text request);
  void (*cancel)(void* user, tenon_generation* generation);
} tenon_model;
/* `name` is recorded with each run. The rest is as for tenon_options_add_extern. */
TENON_API void tenon_options_set_model(tenon_options* options, const char* name, const tenon_model* model, void* user,
                                       void (*release)(void* user));

/* From any thread: a piece of an answer, and its end. Each generation is ended once, even a cancelled one, and is
 * invalid afterwards. */
TENON_API void tenon_generation_add(tenon_generation* generation, tenon_text piece);
/* `text` is the whole answer, the pieces included. */
TENON_API void tenon_generation_finish(tenon_generation* generation, tenon_text text);
/* A model that cannot be reached now is waited for by recorded runs; others fail the call. */
typedef int32_t tenon_model_failure;
enum { TENON_MODEL_UNREACHABLE = 0, TENON_MODEL_REJECTED = 1 };
TENON_API void tenon_generation_fail(tenon_generation* generation, tenon_model_failure failure, tenon_text message);
/* Whether the answer is not needed any more. */
TENON_API bool tenon_generation_is_cancelled(const tenon_generation* generation);

/* --- The engine ----------------------------------------------------------------------------------------------- */

/* Copies the options. The model and the store are opened with the first program or run. */
TENON_API tenon_status tenon_engine_open(const tenon_options* options, tenon_engine** engine, tenon_error** error);
/* Starts nothing more, waits at most `grace` milliseconds for effects in progress, makes everything durable, and closes
 * the store. Then outcomes and events can be taken, and everything be freed; the rest is TENON_CONFLICT, as are waits
 * in progress. TENON_CONFLICT, and nothing is done: another thread is stopping the engine. */
TENON_API tenon_status tenon_engine_stop(tenon_engine* engine, uint64_t grace, tenon_error** error);
/* As tenon_engine_stop without a grace time, if it was not called. Does nothing within a function that the engine
 * calls, or while another thread is in tenon_engine_stop. */
TENON_API void tenon_engine_free(tenon_engine* engine);
/* Makes functions of other threads that wait for events, stops or the end of a run or a call return TENON_NOT_YET
 * now, for a host that has to do something else, such as to handle a signal. A wait that has not begun is not
 * interrupted. Also within a function that the engine calls, but not within a signal handler. */
TENON_API void tenon_engine_interrupt(tenon_engine* engine);
/* Gives the engine a thread of its own, which continues the runs while no other thread does. */
TENON_API tenon_status tenon_engine_start_thread(tenon_engine* engine, tenon_error** error);
/* A file descriptor that is readable while there are events or stops, for poll and event loops. It belongs to the
 * engine, and is not read or closed. Gives the engine a thread. */
TENON_API tenon_status tenon_engine_descriptor(tenon_engine* engine, int* descriptor, tenon_error** error);

/* --- Programs ------------------------------------------------------------------------------------------------- */

/* Loads the program of a file; or `text`, if it is not NULL, as if that file contained it: it need not exist then, but
 * has a path. */
TENON_API tenon_status tenon_program_load(tenon_engine* engine, const char* path, const char* text,
                                          tenon_program** program, tenon_error** error);
/* The same without its externs and without opening the engine: to describe the program, run its tests, or draw it. */
TENON_API tenon_status tenon_program_compile(tenon_engine* engine, const char* path, const char* text,
                                             tenon_program** program, tenon_error** error);
/* The program of a run of the engine's store, as it was recorded. Its externs are those of the engine's options. */
TENON_API tenon_status tenon_program_of_run(tenon_engine* engine, const char* name, tenon_program** program,
                                            tenon_error** error);
TENON_API void tenon_program_free(tenon_program* program);
/* The functions, agents, externs and types of the program as JSON: docs/guides/library.md describes it. */
TENON_API tenon_string* tenon_program_describe(const tenon_program* program);
/* The warnings, as in tenon_error_json: a list of problems. */
TENON_API tenon_string* tenon_program_warnings(const tenon_program* program);
TENON_API bool tenon_program_warning(const tenon_program* program, size_t index, tenon_problem* warning);

/* The same description as structures. NULL: there is no memory for it, or `program` is NULL. */
typedef struct tenon_description tenon_description;
TENON_API tenon_description* tenon_program_description(const tenon_program* program);
TENON_API void tenon_description_free(tenon_description* description);

enum { TENON_FUNCTIONS = 0, TENON_AGENTS = 1, TENON_EXTERNS = 2 };
typedef struct tenon_callable {
  size_t size;
  tenon_text name, documentation;
  size_t parameters; /* how many; an agent has one, `input` */
  size_t result;     /* the index of a type */
} tenon_callable;
typedef struct tenon_member {
  size_t size;
  tenon_text name;          /* empty for the items of a tuple */
  tenon_text documentation; /* may be empty */
  size_t type;              /* the index of a type; TENON_NO_TYPE for a case and a literal */
  size_t payload;           /* of a case: how many values it holds */
} tenon_member;
#define TENON_NO_TYPE SIZE_MAX
/* A function, an agent or an extern; `list` says which. False, as for all of these: there are fewer. */
TENON_API bool tenon_description_callable(const tenon_description* description, int32_t list, size_t index,
                                          tenon_callable* callable);
TENON_API bool tenon_description_parameter(const tenon_description* description, int32_t list, size_t callable,
                                           size_t index, tenon_member* parameter);

enum {
  TENON_TYPE_UNIT,
  TENON_TYPE_BOOLEAN,
  TENON_TYPE_I32,
  TENON_TYPE_I64,
  TENON_TYPE_F64,
  TENON_TYPE_STRING,
  TENON_TYPE_TEXT, /* a String with a name of its own */
  TENON_TYPE_CONTEXT,
  TENON_TYPE_LIST,
  TENON_TYPE_MAP,
  TENON_TYPE_OPTION,
  TENON_TYPE_RESULT,
  TENON_TYPE_SECRET,
  TENON_TYPE_TUPLE,
  TENON_TYPE_STRUCT,
  TENON_TYPE_ENUM,
  TENON_TYPE_UNION,
  TENON_TYPE_REFINED,
  TENON_TYPE_INTERNAL /* no value of it leaves the program */
};
typedef struct tenon_type {
  size_t size;
  int32_t kind;
  tenon_text text;          /* as the program writes it */
  tenon_text name;          /* of a struct, an enum, or what `type` has named; may be empty */
  tenon_text documentation; /* may be empty */
  size_t item;    /* of a list, a map, an option, a result, a secret and a refined type: what it is of. TENON_NO_TYPE */
  size_t members; /* fields of a struct, items of a tuple, cases of an enum, literals of a union: how many */
  /* Of a refined type, as JSON; empty: none. */
  tenon_text minimum, maximum, exclusive_maximum, length_minimum, length_maximum;
  tenon_text pattern; /* plain */
} tenon_type;
TENON_API bool tenon_description_type(const tenon_description* description, size_t index, tenon_type* type);
/* The name of a literal is the literal as JSON. */
TENON_API bool tenon_description_member(const tenon_description* description, size_t type, size_t index,
                                        tenon_member* member);
/* `type` = the type of the value at `index` in a case of an enum. */
TENON_API bool tenon_description_payload(const tenon_description* description, size_t enumeration, size_t which,
                                         size_t index, size_t* type);

/* --- Runs ----------------------------------------------------------------------------------------------------- */

/* The run has events: `tenon_next_event`. They take memory until they are taken. */
#define TENON_WITH_EVENTS 1u
/* `tenon_next_stops` reports when the run has ended, or waits for a person or a prompt. */
#define TENON_WITH_STOPS 2u
/* The run starts before the engine continues its runs the next time, and the function does not wait for that. An error
 * of the start is one of tenon_run_outcome and tenon_call_value, and the run has no name before it was reported. */
#define TENON_START_LATER 4u
/* What its models are sent and answer is kept while the run is in memory: `tenon_run_prompts`. */
#define TENON_WITH_PROMPTS 8u

/* Starts a function. `arguments` is an object with a member for each parameter. */
TENON_API tenon_status tenon_run_start(tenon_program* program, const char* function, tenon_text arguments,
                                       uint32_t flags, tenon_run** run, tenon_error** error);
/* Starts a conversation with an agent, which waits for its first prompt. */
TENON_API tenon_status tenon_run_start_agent(tenon_program* program, const char* agent, uint32_t flags, tenon_run** run,
                                             tenon_error** error);
/* Continues a run of the engine's store, with the program that it was started with. */
TENON_API tenon_status tenon_run_resume(tenon_engine* engine, const char* name, uint32_t flags, tenon_run** run,
                                        tenon_error** error);
/* The run itself continues. It leaves the engine when it has ended, or when it waits for a person or a prompt and can
 * be resumed from the store; without a store it is cancelled then. */
TENON_API void tenon_run_free(tenon_run* run);

/* The name under which the run is recorded; NULL without a store. The store has a new run from the run's first event or
 * stop on; a process that ends before may leave nothing of it. */
TENON_API const char* tenon_run_name(const tenon_run* run);
/* The name of its function or agent; NULL before a run with TENON_START_LATER was reported. */
TENON_API const char* tenon_run_title(const tenon_run* run);
/* A number that no other run of the engine has. */
TENON_API uint64_t tenon_run_number(const tenon_run* run);

/* Begins the next turn of a conversation. `input`: a text as it is, anything else as JSON. */
TENON_API tenon_status tenon_run_prompt(tenon_run* run, tenon_text input, tenon_error** error);
/* Answers a question. `wait` names it; NULL: the only one that the run has asked so far. `input` as above. */
TENON_API tenon_status tenon_run_answer(tenon_run* run, const char* wait, tenon_text input, tenon_error** error);
/* Ends the run, or only the current turn of a conversation; its blocks of `shield` end and those of `finally` are
   executed first. */
TENON_API tenon_status tenon_run_cancel(tenon_run* run, const char* reason, tenon_error** error);
TENON_API tenon_status tenon_run_cancel_turn(tenon_run* run, const char* reason, tenon_error** error);

/* Not a status: a function that reports a run which has failed returns TENON_OK, and TENON_RUN_FAILED as its state. */
typedef int32_t tenon_run_state;
enum {
  TENON_RUN_RUNNING = 0,
  TENON_RUN_ASKS = 1,  /* it waits for a person: tenon_run_questions */
  TENON_RUN_READY = 2, /* a conversation: it waits for a prompt */
  TENON_RUN_RETURNED = 3,
  TENON_RUN_FAILED = 4,
  TENON_RUN_CANCELLED = 5,
  TENON_RUN_DETACHED = 6 /* it could not be recorded any more, and can be resumed */
};
/* Continues the runs until this one has another state than TENON_RUN_RUNNING. TENON_NOT_YET: not within `timeout`. */
TENON_API tenon_status tenon_run_wait(tenon_run* run, uint64_t timeout, tenon_run_state* state, tenon_error** error);
/* As tenon_engine_interrupt, for the engine of the run. */
TENON_API void tenon_run_interrupt(tenon_run* run);
/* A run with TENON_WITH_STOPS that does not run any more, or not for now. */
typedef struct tenon_stop {
  uint64_t run;          /* tenon_run_number */
  tenon_run_state state; /* not TENON_RUN_RUNNING */
} tenon_stop;
/* Takes the oldest stops of all runs, `capacity` at most, and waits at most `timeout` for the first one. A host that
 * waits for the engine's descriptor calls this until there are fewer than `capacity`, and then takes the events. */
TENON_API tenon_status tenon_next_stops(tenon_engine* engine, uint64_t timeout, tenon_stop* stops, size_t capacity,
                                        size_t* count, tenon_error** error);

/* The open questions, a list of objects: `wait`, its name; `question`; `schema` of the answer; where a person is asked
 * to approve of a value, that `value` and the `sources` it depends on. */
TENON_API tenon_status tenon_run_questions(tenon_run* run, tenon_string** questions, tenon_error** error);
/* The same as structures. */
typedef struct tenon_question {
  size_t size;
  tenon_text wait; /* its name, for tenon_run_answer */
  tenon_text question;
  tenon_text type;   /* of the answer, as the program writes it */
  tenon_text schema; /* of the answer: JSON Schema (2020-12) */
  int64_t until;     /* milliseconds since 1970; -1: without end */
  bool is_secret;    /* the answer holds a secret */
} tenon_question;
typedef struct tenon_question_list tenon_question_list;
TENON_API tenon_status tenon_run_open_questions(tenon_run* run, tenon_question_list** questions, tenon_error** error);
TENON_API bool tenon_question_at(const tenon_question_list* questions, size_t index, tenon_question* question);
TENON_API void tenon_question_list_free(tenon_question_list* questions);

/* A list of objects, of a run with TENON_WITH_PROMPTS: `function`, `place`, `attempt`, `messages` with `role` and
 * `text`; for a typed answer its `schema`; then `answer` and `model`, or `error`; `tokens` and `ms`. The newest 1000 of
 * them, and at most 16 MB. */
TENON_API tenon_status tenon_run_prompts(tenon_run* run, tenon_string** prompts, tenon_error** error);

/* How the run has ended, or the newest turn of a conversation. TENON_NOT_YET: it has not. */
TENON_API tenon_status tenon_run_outcome(tenon_run* run, tenon_outcome** outcome, tenon_error** error);
TENON_API tenon_run_state tenon_outcome_state(const tenon_outcome* outcome);
/* TENON_RUN_RETURNED: the value as JSON. */
TENON_API tenon_text tenon_outcome_value(const tenon_outcome* outcome);
/* Otherwise: why, for people; with the location and the call stack of a failure. */
TENON_API tenon_text tenon_outcome_message(const tenon_outcome* outcome);
/* TENON_RUN_FAILED: the kind of the failure, as the language names it, such as "ToolFailed"; and the requirement,
 * extern, model or budget that failed, which may be empty. */
TENON_API tenon_text tenon_outcome_kind(const tenon_outcome* outcome);
TENON_API tenon_text tenon_outcome_blame(const tenon_outcome* outcome);
TENON_API void tenon_outcome_free(tenon_outcome* outcome);

/* --- Calls without JSON --------------------------------------------------------------------------------------- */

/* The arguments of one call of a function, to be stored in the slots of its parameters, and then its value. The
 * functions of tenon/extern.h read and write them. */
TENON_API tenon_status tenon_call_new(tenon_program* program, const char* function, tenon_call** call,
                                      tenon_error** error);
/* `index` counts the parameters that a caller gives: not those of the type Context. NULL after the last one. */
TENON_API tenon_slot* tenon_call_parameter(tenon_call* call, size_t index);
/* Starts the function, continues the runs until it has ended, and forgets the run. If it returns, `*value` is what it
 * has returned, valid as long as `call`; otherwise `*value` is NULL, and `*outcome` says how the run has ended.
 * TENON_NOT_YET: it did not end within `timeout`, or waits for a person, and `*run` has it. A call is made once; while
 * an argument is missing (TENON_WRONG_INPUT), it can still be stored. */
TENON_API tenon_status tenon_call_make(tenon_call* call, uint64_t timeout, const tenon_value** value,
                                       tenon_outcome** outcome, tenon_run** run, tenon_error** error);
/* Starts the function as a run of its own, as tenon_run_start does with JSON. A call is made or started once. */
TENON_API tenon_status tenon_call_start(tenon_call* call, uint32_t flags, tenon_run** run, tenon_error** error);
/* The same with TENON_WITH_STOPS and TENON_START_LATER, for event loops. If the engine has nothing else to do, and no
 * store, the run gets a short slice on this thread, which calls no extern: so no other thread has to be woken for a
 * function that soon ends. `*state` is TENON_RUN_RUNNING, and tenon_next_stops reports the run later; or the run has
 * stopped already, and that is not reported again. */
TENON_API tenon_status tenon_call_begin(tenon_call* call, tenon_run** run, tenon_run_state* state, tenon_error** error);
/* What a run has returned that this call has started, or that tenon_call_make gave as `*run`. Valid as long as `call`.
 * TENON_NOT_YET: it has not returned a value, and tenon_run_outcome says more. Any other run is TENON_USAGE. */
TENON_API tenon_status tenon_call_value(tenon_call* call, tenon_run* run, const tenon_value** value,
                                        tenon_error** error);
/* The number of the run (tenon_run_number) that a call of tenon_call_new will be or is; or, within an extern of the
 * host and until tenon_finish, of the run that makes the call: 0 if it is one of a tenon_host. */
TENON_API uint64_t tenon_call_run(const tenon_call* call);
TENON_API void tenon_call_free(tenon_call* call);

/* --- Recorded runs -------------------------------------------------------------------------------------------- */

/* The runs of the options' store, also while another process owns it, a list of objects in the order of their names,
 * which is by age: `run`, its name; `state`, as `tenon runs` shows it; `function`, `records`, `created_at` and
 * `updated_at` in milliseconds since 1970; and `waits`, its open questions. Those after the run `after` (NULL: from the
 * first), `limit` at most. `state`: only those; NULL: all. TENON_NOT_FOUND: there is no such store. */
TENON_API tenon_status tenon_store_runs(const tenon_options* options, const char* state, const char* after,
                                        size_t limit, tenon_string** runs, tenon_error** error);

/* Starts a run that repeats another one of the engine's store up to its record `at`: the outcomes that are recorded
 * until then are used again, and the run continues from there. `program`: a changed one; NULL: that of the run. */
TENON_API tenon_status tenon_run_fork(tenon_engine* engine, const char* name, uint64_t at, tenon_program* program,
                                      uint32_t flags, tenon_run** run, tenon_error** error);
/* Executes a run of the engine's store again from its journal, without calling models or externs. `*difference`: how
 * its value or its end differs from the journal's, for people; empty if they are the same. TENON_FAILED: the program
 * requests something else than the journal has; the message shows both. `program` as above. */
TENON_API tenon_status tenon_run_replay(tenon_engine* engine, const char* name, tenon_program* program,
                                        tenon_string** difference, tenon_error** error);
/* What a run of the engine's store did (docs/internals/algebra.md). `form`: `json`; `npz`, an archive of NumPy; `hash`,
 * which is equal for runs that did the same; or `calls`, for people. */
TENON_API tenon_status tenon_run_artifacts(tenon_engine* engine, const char* name, const char* form,
                                           tenon_string** artifacts, tenon_error** error);

/* --- Tests and pictures of programs --------------------------------------------------------------------------- */

/* The `test` blocks of the program's files, a list of objects with `name`, `path` and `line`. */
TENON_API tenon_string* tenon_program_tests(const tenon_program* program);
/* Runs a test by its index in that list, with the answers of its script. `*problem`: why it has failed, for people;
 * empty if it has passed. TENON_TEST_INTERRUPTED: the test is run as a recorded run that is interrupted after each
 * record. */
#define TENON_TEST_INTERRUPTED 1u
TENON_API tenon_status tenon_program_run_test(const tenon_program* program, size_t index, uint32_t flags,
                                              tenon_string** problem, tenon_error** error);
/* The agents of the program's first file as graphs of blocks: `svg`, `dot`, or `json` (docs/guides/graph.md). The
 * picture is empty if there are no blocks. */
TENON_API tenon_status tenon_program_graph(const tenon_program* program, const char* form, tenon_string** graph,
                                           tenon_error** error);

/* --- Events --------------------------------------------------------------------------------------------------- */

/* Takes the oldest event of a run, or, if `run` is NULL, of any run that was started with TENON_WITH_EVENTS, and waits
 * at most `timeout` for one. TENON_NOT_YET: there was none, or the run has ended or waits for input, so that there
 * will be none before it gets something. */
TENON_API tenon_status tenon_next_event(tenon_engine* engine, tenon_run* run, uint64_t timeout, tenon_event** event,
                                        tenon_error** error);
/* An event of the agent protocol (docs/protocol/events.md) as JSON, and its `type`. */
TENON_API tenon_text tenon_event_json(const tenon_event* event);
TENON_API tenon_text tenon_event_type(const tenon_event* event);
TENON_API uint64_t tenon_event_run(const tenon_event* event); /* tenon_run_number */
TENON_API void tenon_event_free(tenon_event* event);

/* --- Hosts ---------------------------------------------------------------------------------------------------- */

/* A host continues the runs of a store for other processes, as `tenon serve` does, and a gateway only leaves requests
 * to the hosts of its store (docs/guides/library.md). Both start, prompt, answer and cancel runs, follow their events,
 * and can serve HTTP. They have threads of their own, on which a host calls its externs and its model. Everything here
 * can be used from any thread. Within a function that the host calls, what would wait for those threads is
 * TENON_CONFLICT: to begin, stop or serve, requests other than tenon_host_send, tenon_host_release, and
 * tenon_follower_next with a timeout. */
typedef struct tenon_host tenon_host;
typedef struct tenon_follower tenon_follower;
typedef int32_t tenon_host_role;
enum { TENON_HOST = 0, TENON_GATEWAY = 1 };

/* Opens the store, and the model and the externs of a host, with the programs of these files. A gateway binds no
 * externs. `options` as for tenon_engine_open, with a store, and besides:
 *   pool (a host takes the runs of its pool, and runs that are started here belong to it; the default has no name)
 *   agent (an agent with `[agents.NAME]` in the manifest: the host continues runs of the pool while this agent is
 *     active) */
TENON_API tenon_status tenon_host_open(const tenon_options* options, tenon_host_role role, const char* const* files,
                                       size_t count, tenon_host** host, tenon_error** error);
/* From now on it takes requests, and a host continues runs that no other process continues. */
TENON_API tenon_status tenon_host_begin(tenon_host* host, tenon_error** error);
/* Takes no more requests, and waits at most `grace` milliseconds for effects in progress; other hosts continue the
 * runs. TENON_CONFLICT, and nothing is done: another thread is stopping it. */
TENON_API tenon_status tenon_host_stop(tenon_host* host, uint64_t grace, tenon_error** error);
/* As tenon_host_stop without a grace time, if it was not called. After its followers. Does nothing within a function
 * that the host calls, or while another thread is in tenon_host_stop. */
TENON_API void tenon_host_free(tenon_host* host);
/* An object: `owner`, the number that the store gives this process; `lease`: `held`, `suspended` or `lost`; `runs` in
 * memory; `effects` in progress; `started`, `loaded`, `ended` and `released` runs, `records`, `answers` and `commands`
 * so far; and `broken`, why the host does nothing any more, or null. */
TENON_API tenon_string* tenon_host_status(const tenon_host* host);
/* The processes that share the store, a list of objects: `owner`, `role`, `label`, `pool`, `runs`, `lease_ms`,
 * `joined_at`. */
TENON_API tenon_status tenon_host_owners(tenon_host* host, tenon_string** owners, tenon_error** error);
/* How much there is in the store, an object: `runs`, an object with the number of runs in each state, and `commands`,
 * requests that no host has taken. Counting takes a while in a large store. */
TENON_API tenon_status tenon_host_counts(tenon_host* host, tenon_string** counts, tenon_error** error);
/* The pools that have work to do and no host, a list of texts. */
TENON_API tenon_status tenon_host_pools_without_hosts(tenon_host* host, tenon_string** pools, tenon_error** error);
/* Gives up at most `count` runs that only wait, those that have waited longest first: whichever host is asked for one
 * next continues it. `*released`: how many they were. TENON_NOT_YET: the host has not done so within `timeout`. */
TENON_API tenon_status tenon_host_release(tenon_host* host, size_t count, uint64_t timeout, size_t* released,
                                          tenon_error** error);
/* The programs, a list of objects: `file`, and `program` as tenon_program_describe has it. */
TENON_API tenon_string* tenon_host_describe(const tenon_host* host);
/* The agents of the programs that have hosts of their own (docs/guides/manifest.md), a list of objects: `agent`;
 * `pool`, the name of the pool of these hosts; what they need: `num_cpus` and `num_gpus` or null, and `resources`,
 * amounts by name. */
TENON_API tenon_string* tenon_host_placements(const tenon_host* host);

/* Requests return when what they lead to is durable. `key`: by which a repetition is recognized for a day, by all
 * processes of the store; NULL: none. TENON_NOT_YET: there was no reply within `timeout`; with a key it can be sent
 * again. */

/* Starts a function or an agent; `name` may be `FILE.name`. `arguments`: of a function, an object; of an agent, its
 * first prompt as JSON, or empty. */
TENON_API tenon_status tenon_host_start(tenon_host* host, const char* name, tenon_text arguments, const char* key,
                                        uint64_t timeout, tenon_string** run, tenon_error** error);
/* `input` is JSON; where no text is expected, it may also be a text that holds JSON. */
TENON_API tenon_status tenon_host_prompt(tenon_host* host, const char* run, tenon_text input, const char* key,
                                         uint64_t timeout, tenon_error** error);
/* `wait` is NULL for the only question that the run has asked so far. */
TENON_API tenon_status tenon_host_answer(tenon_host* host, const char* run, const char* wait, tenon_text input,
                                         const char* key, uint64_t timeout, tenon_error** error);
TENON_API tenon_status tenon_host_cancel(tenon_host* host, const char* run, const char* reason, const char* key,
                                         uint64_t timeout, tenon_error** error);
TENON_API tenon_status tenon_host_cancel_turn(tenon_host* host, const char* run, const char* reason, const char* key,
                                              uint64_t timeout, tenon_error** error);

/* The same requests for hosts that do not wait for the reply. */
typedef int32_t tenon_request_kind;
enum { TENON_START = 0, TENON_PROMPT = 1, TENON_ANSWER = 2, TENON_CANCEL = 3, TENON_CANCEL_TURN = 4 };
typedef struct tenon_request {
  uint32_t size; /* bytes of this struct */
  tenon_request_kind kind;
  const char* name; /* TENON_START: of the function or agent; otherwise of the run */
  const char* wait; /* TENON_ANSWER: the question; may be NULL */
  tenon_text input; /* the arguments, the prompt, the answer or the reason, as above */
  const char* key;  /* may be NULL */
} tenon_request;
/* The reply: the name of the run, and the number of its events before those of the request; or why the request was
 * refused, which is freed by the receiver. */
typedef void (*tenon_reply_function)(void* user, tenon_text run, uint64_t after, tenon_error* error);
/* Sends a request. Unless this fails, `function` is called once, on another thread, within tenon_host_stop, or
 * within this function; it does nothing that waits for the host. */
TENON_API tenon_status tenon_host_send(tenon_host* host, const tenon_request* request, tenon_reply_function function,
                                       void* user, tenon_error** error);

/* What the store says of a run: an object with `run`, `state` (as `tenon runs` shows it), `function`, `records`,
 * `created_at`, `updated_at`, and `waits`, its open questions. */
TENON_API tenon_status tenon_host_run(tenon_host* host, const char* run, tenon_string** state, tenon_error** error);
/* The same of all runs, a list in the order of their names, after the run `after` (NULL: from the first), `limit` at
 * most. `state`: only those; NULL: all. */
TENON_API tenon_status tenon_host_runs(tenon_host* host, const char* state, const char* after, size_t limit,
                                       tenon_string** runs, tenon_error** error);
/* How a run has ended, or the newest turn of a conversation that waits for a prompt, as tenon_run_outcome has it.
 * TENON_NOT_YET: it has not. */
TENON_API tenon_status tenon_host_outcome(tenon_host* host, const char* run, tenon_outcome** outcome,
                                          tenon_error** error);

/* The events of a run with numbers greater than `after`, also of a run that another process continues: recorded ones
 * from the store, each once, and pieces of answers while they are written. */
TENON_API tenon_status tenon_host_follow(tenon_host* host, const char* run, uint64_t after, tenon_follower** follower,
                                         tenon_error** error);
/* `*event` is NULL after the last event of a run that has ended. By one thread at a time. */
TENON_API tenon_status tenon_follower_next(tenon_follower* follower, uint64_t timeout, tenon_event** event,
                                           tenon_error** error);
/* As tenon_engine_interrupt, for tenon_follower_next; from any thread. */
TENON_API void tenon_follower_interrupt(tenon_follower* follower);
/* The state of the run after the events that were taken: TENON_RUN_RUNNING while there are more. */
TENON_API tenon_status tenon_follower_state(tenon_follower* follower, tenon_run_state* state, tenon_error** error);
/* Readable while there may be events. It belongs to the follower. */
TENON_API int tenon_follower_descriptor(const tenon_follower* follower);
TENON_API void tenon_follower_free(tenon_follower* follower);

/* Serves HTTP as `tenon serve` does, until the host is stopped. `address`: an IP address or `localhost`; one that other
 * machines can reach requires a `token`. `port`: 0 for any. `*listening`: the port. */
TENON_API tenon_status tenon_host_serve(tenon_host* host, const char* address, uint16_t port, const char* token,
                                        uint16_t* listening, tenon_error** error);

#ifdef __cplusplus
} /* extern "C" */
#endif
