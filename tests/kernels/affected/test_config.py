"""The configuration file."""

import time

import pytest

from app.core.errors import UserError
from app.kernels.affected.config import Config, matches, parse_config


def test_a_whole_file():
    config = parse_config(
        """
        version = 1
        ignore = ["third_party/*"]
        [[add]]
        files = ["csrc/dispatch.h"]
        operators = ["_C::rms_norm"]
        tests = ["tests/kernels/test_all.py"]
        why = "it chooses among kernels"
        [[remove]]
        tests = ["tests/models/*"]
        """,
        "f",
    )
    assert config.add[0].operators == ["_C::rms_norm"]
    assert parse_config("", "f") == Config()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version = ", "is no TOML"),
        ("version = 2", "version: "),
        ("wrong = 1", "wrong: "),
        ("[[add]]\noperators = ['x']", "add.0.files: "),
        ("[[add]]\nfiles = []", "add.0.files: "),
    ],
)
def test_what_is_wrong_is_said(text, said):
    with pytest.raises(UserError) as caught:
        parse_config(text, "the file")
    assert "the file" in caught.value.message
    assert said in caught.value.message
    assert caught.value.hint


def test_patterns_are_matched_in_bounded_time():
    begun = time.perf_counter()
    assert not matches(["*a" * 100 + "b"], "a" * 4000)
    assert time.perf_counter() - begun < 2
    assert matches(["csrc/*.cu"], "csrc/deep/er/k.cu")
    assert not matches(["csrc/*.cu"], "csrc/k.cuh")
