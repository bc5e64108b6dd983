"""What clients see of one server, on a database: the tests of tests/server, without those of the file itself."""
import functools
import itertools

import agents_contract
import api_contract
import chat_contract
import limits_contract
import moments_contract
import programs_contract
import responses_contract
import server_process
import stream_contract
import trust_contract
import values_contract
from cluster import database

MODULES = (api_contract, agents_contract, stream_contract, limits_contract, programs_contract, moments_contract, chat_contract,
           responses_contract, values_contract, trust_contract)
# They look into the file, or expect that one process has the store for itself; what a terminal does on a database is in terminals.py.
OF_FILES = {"test_commands_of_other_processes", "test_invalid_command_lines", "test_no_answer_shows_a_path_of_the_disk"}
# Where a database differs from a file: commands come through the inbox, readers follow what was committed elsewhere, keys and names are
# inserted once, and the runs come from rows.
SHORT = {
    "test_two_answers_to_one_wait_at_once", "test_an_answer_without_wait_answers_no_question_that_its_sender_has_not_seen",
    "test_a_run_is_forked", "test_conversations", "test_cancelling", "test_listing", "test_idempotency",
    "test_several_children_wait_and_each_gets_its_answer", "test_answers_of_blocks_are_streamed",
    "test_the_answer_is_streamed_wherever_it_is_the_turns_value", "test_no_event_is_lost_or_repeated_after_a_kill",
    "test_a_late_reader_gets_everything", "test_a_fork_keeps_its_program_over_a_restart",
    "test_a_conversation_over_turns_questions_and_a_crash", "test_a_repeated_chat_request", "test_a_key_belongs_to_one_conversation",
    "test_a_response_that_is_requested_again", "test_a_response_in_the_background",
}
NUMBERS = itertools.count(1)


def run_on_database(test, work):
    stores = {}  # by the servers' folders

    def make_store(folder):
        if folder not in stores:
            stores[folder] = database().url(options=f"&tenon.schema=contract{next(NUMBERS)}")
        return stores[folder]

    server_process.STORE_MAKERS.append(make_store)
    try:
        test(work)
    finally:
        server_process.STORE_MAKERS.pop()


def find_tests(is_long):
    """Pairs of a name and a test, which takes a folder."""
    for module in MODULES:
        for name, test in list(vars(module).items()):
            if name.startswith("test_") and name not in OF_FILES and (is_long or name in SHORT):
                yield f"{module.__name__}.{name}", functools.partial(run_on_database, test)
