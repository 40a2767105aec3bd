"""Files of a batch endpoint that are made to fill a worker's memory."""

import json
import tracemalloc

import pytest

from annotation.machine_judges.batch_files import (
    LARGEST_OBJECT,
    LONGEST_LINE,
    BatchRefused,
    list_lines,
    read_batch,
    read_results,
)


def result(position: int, **more: object) -> bytes:
    response = {"status_code": 200, "body": {"choices": []}}
    line = {"custom_id": f"pair-{position}", "response": response, **more}
    return json.dumps(line).encode() + b"\n"


def test_a_file_of_blank_lines_takes_no_list_of_them() -> None:
    content = b"\n" * 2_000_000 + result(0) + b" \n" * 1_000_000
    tracemalloc.start()
    try:
        (only,) = read_results(content, requests=1)
        assert sum(1 for _ in list_lines(content)) == 1
        assert tracemalloc.get_traced_memory()[1] < 1_000_000  # the list took 24 MB
    finally:
        tracemalloc.stop()
    assert (only.position, only.status, only.error) == (0, 200, "")


def test_a_line_that_is_too_long_is_left_out_and_others_are_read() -> None:
    bomb = b'{"custom_id": "pair-0", "x": [' + b"[]," * (LONGEST_LINE // 3) + b"[]]}\n"
    found = list(read_results(bomb + result(1), requests=2))
    assert [one.position for one in found] == [1]


def test_a_line_without_an_end_is_read() -> None:
    (only,) = read_results(result(0).removesuffix(b"\n"), requests=1)
    assert only.position == 0


def test_an_object_that_is_too_large_is_no_batch() -> None:
    batch = b'{"id": "b-1", "status": "completed"' + b" " * LARGEST_OBJECT + b"}"
    with pytest.raises(BatchRefused, match="larger than 4 MiB"):
        read_batch(batch)
    assert read_batch(batch.replace(b" " * LARGEST_OBJECT, b"")).id == "b-1"


@pytest.mark.parametrize("name", [".", ".."])
def test_an_id_that_leads_out_of_a_path_is_none(name: str) -> None:
    with pytest.raises(BatchRefused, match="no id"):
        read_batch(json.dumps({"id": name, "status": "completed"}).encode())
