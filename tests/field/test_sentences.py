"""The field's faults in our own words, each with its tests. A list, and a test that it is whole.

Three sources: the numbered field problems that every driver must survive (``9.01`` to ``9.14``), and of the
cases that people reported the lines about bytes and about devices.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent

SENTENCES: dict[str, str] = {
    # --- field problems every driver must survive ---
    "9.01 an unplug is any of five exceptions at any call: one loss": """
        an_unplug_in_any_guise_is_one_scanner_lost""",
    "9.01 the hand is frozen, not voided": "the_hand_is_frozen_not_voided",
    "9.01 reopening backs off": "it_is_looked_for_again_ever_less_often",
    "9.02 a dead port that is ready and empty: a few reads, then lost, no busy loop": """
        a_dead_port_is_read_a_few_times_and_is_lost""",
    "9.03 one reader: the lock, the kernel's mark, the table's own lock, the serial server that refuses": """
        two_readers_on_a_port_are_refused_by_the_lock
        and_by_the_kernels_mark_where_the_port_is_hardware
        above_both_the_table_has_one_controller
        a_refused_serial_server_is_told_as_another_reader""",
    "9.04 another number after replugging: closed first, opened by the stable name": """
        closed_first_then_opened_by_its_stable_name""",
    "9.04 adapters without a serial number share a name: no guess": """
        two_adapters_of_one_name_are_not_guessed_at""",
    "9.04 never the first port that opens": "never_the_first_port_that_opens",
    "9.05 ModemManager, brltty, autosuspend: EBUSY explained, udev rules shipped": """
        a_port_grabbed_by_the_system_says_by_whom
        udev_rules_are_shipped_against_modemmanager_brltty_and_autosuspend""",
    "9.06 EACCES and EBUSY right after plugging: tried again quietly": """
        not_allowed_yet_and_busy_still_are_tried_again_quietly""",
    "9.06 EACCES for ever: degraded, naming group and rule": """
        never_allowed_is_degraded_and_names_group_and_rule""",
    "9.07 raw, no echo, DTR and RTS set before the port opens": """
        opened_raw_and_without_echo dtr_and_rts_stand_before_the_port_opens""",
    "9.08 old bytes are flushed, logged as discarded, and no card of the wrong phase is P1": """
        old_scans_are_discarded_by_name_before_the_scanner_is_ready
        a_discarded_card_is_written_down_and_is_nobodys
        a_scan_in_the_wrong_phase_is_never_p1""",
    "9.09 split and glued anywhere: the same scans, and no half lines": """
        every_split_of_a_byte_string_gives_the_same_scans nobody_waits_for_the_rest_of_a_line""",
    "9.10 the same card twice in a row is lawful; a bounce is told by number, mark or gap": """
        a_shuffled_eight_deck_shoe_loses_no_twin
        every_driver_says_how_it_tells_twins_from_copies
        copies_are_one_card_and_twins_two_by_each_drivers_own_means""",
    "9.11 one bad byte kills nobody; fifty bad lines: check baud rate and cable": """
        one_bad_byte_kills_nobody_and_costs_no_later_card
        fifty_bad_lines_say_check_baud_rate_and_cable""",
    "9.12 USB: idle time-outs, gone, stalled, overflow, busy": """
        an_idle_time_out_is_no_fault
        errors_are_told_by_number_never_by_text
        errno_19_the_device_is_found_afresh
        errno_32_clears_the_halt_once_and_three_are_a_reopening
        the_read_size_is_a_multiple_of_the_packets
        an_overflow_is_a_lost_scanner_never_a_lost_card
        errno_16_every_interface_is_detached_before_the_configuration_is_set
        in_use_by_another_is_told_and_tried_again
        idle_costs_next_to_nothing""",
    "9.13 a serial server whose cable is out stays connected: keepalive 30/10/3": """
        keepalive_tells_of_a_cable_that_is_out""",
    "9.14 closing while another thread reads; a thousand cycles": """
        stopped_in_the_middle_of_a_read_without_a_traceback
        a_thousand_cycles_leave_descriptors_and_memory_flat""",
    # --- bytes ---
    "bytes: codes that are almost codes are rejected in hex, nothing changes, an error beep": """
        no_code_is_rejected_in_hex_changes_nothing_and_sounds_an_error an_empty_code_is_no_card""",
    "bytes: one chunk, two chunks, every split": """
        one_chunk_two_chunks_and_every_split_are_the_same_two_cards""",
    "bytes: a late LF, a double CR: no empty scans": """
        cr_and_a_late_lf_or_two_crs_are_two_cards_and_no_empty_scans""",
    "bytes: half a code, a pause, the other half; half a code and a long pause": """
        a_short_pause_is_within_a_line_and_a_stub_is_dropped_with_a_notice""",
    "bytes: one code twice, 30 ms and 900 ms apart": """
        the_same_card_30_ms_apart_is_one_with_a_notice_and_900_ms_apart_two""",
    "bytes: scans from before the opening and 50 ms after it": """
        scans_from_before_and_50_ms_after_the_opening_are_discarded_and_never_p1""",
    "bytes: a key reported three times without release": """
        a_key_reported_three_times_without_release_is_one_character""",
    # --- devices ---
    "devices: an unplug in every guise: one loss, hand frozen, reopened by identity": """
        an_unplug_in_every_guise_freezes_the_hand_and_is_reopened_by_identity""",
    "devices: ready and empty for ever: lost, no busy loop": """
        a_port_that_is_ready_and_empty_for_ever_is_lost_without_a_busy_loop""",
    "devices: closed during a read, a thousand times": """
        a_close_during_a_read_is_clean_and_a_thousand_of_them_leave_nothing""",
    "devices: a second controller on the same port": "a_second_controller_on_the_same_port_reads_nothing",
    "devices: USB idle for ten minutes": "ten_minutes_of_usb_idle_time_outs_are_no_reset_and_no_log",
    "devices: errno 19 in mid-read": "errno_19_in_mid_read_is_found_afresh_at_its_new_address",
    "devices: the scanner is the second of two": """
        of_two_adapters_the_one_named_is_read
        two_adapters_that_cannot_be_told_apart_are_refused_in_words
        of_two_usb_scanners_the_one_named_is_read""",
    "devices: a boot without scanner, network or credential file": """
        a_boot_without_scanner_is_up_says_so_and_picks_it_up
        a_boot_without_network_is_up_says_so_and_picks_it_up
        a_boot_without_credential_files_is_up_says_so_and_picks_them_up""",
}


def prefix(sentence: str) -> str:
    """``9.04 …`` → ``test_9_04_``, ``bytes: …`` → ``test_bytes_``."""
    return f"test_{sentence.split(maxsplit=1)[0].strip(':').replace('.', '_')}_"


def named() -> dict[str, str]:
    """Every test that is listed, with its sentence."""
    return {
        prefix(sentence) + test: sentence for sentence, tests in SENTENCES.items() for test in tests.split()
    }


def written() -> set[str]:
    """Every test beside this file."""
    return {
        node.name
        for path in HERE.glob("test_*.py")
        if path != Path(__file__)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_sentence_has_its_tests(sentence: str) -> None:
    tests = SENTENCES[sentence].split()
    assert tests
    assert {prefix(sentence) + test for test in tests} <= written()


def test_no_test_is_without_its_sentence() -> None:
    assert written() == set(named())


def test_no_item_is_left_out() -> None:
    heads = {sentence.split()[0] for sentence in SENTENCES}
    assert heads == {*(f"9.{number:02}" for number in range(1, 15)), "bytes:", "devices:"}
    assert len([sentence for sentence in SENTENCES if sentence.startswith("bytes:")]) == 7
    assert len([sentence for sentence in SENTENCES if sentence.startswith("devices:")]) == 8
