"""`pulsegate kernels affected` over real repositories."""

import json
import os
import subprocess
import sys
from datetime import date

import pytest

from app.adapters.affected import AffectedKernels
from app.adapters.facts_cache import FactsCache
from app.adapters.git_tree import GitTree
from app.kernels.affected.answer import Answer
from tests.adapters.repositories import Repository
from tests.kernels.affected.trees import PROJECT, edited

CONFIG = ".github/pulsegate-kernels.toml"


@pytest.fixture
def repository(tmp_path):
    made = Repository(tmp_path / "repo")
    made.commit(PROJECT)
    made.git("branch", "base")
    made.git("checkout", "-q", "-b", "work")
    return made


@pytest.fixture
def run(root, tmp_path, repository):
    def run(*words, base="base", head="work"):
        return subprocess.run(
            [
                sys.executable, "-m", "app.cli", "kernels", "affected", "--repo",
                str(repository.folder), "--base", base, "--head", head, *words,
            ],
            env={**os.environ, "PYTHONPATH": str(root), "XDG_CACHE_HOME": str(tmp_path / "cache")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip

    return run


def answer(repository, base="base", head="work", cache=None):
    cache = FactsCache(cache, date(2026, 1, 1))
    try:
        return AffectedKernels(GitTree(repository.folder), cache, lambda *_: None).answer(
            base, head
        )
    finally:
        cache.close()


def test_as_text_and_as_json(run, repository, tmp_path):
    head = repository.commit(edited(PROJECT, "csrc/reduce.cuh", "in[0] * WARP", "in[1] * WARP"))
    told = run()
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("1 changed files, 1 operators affected, 2 test files")
    assert "csrc/norm.cu:rms_norm implements _C::rms_norm" in told.stdout
    found = Answer.model_validate_json(run("--json").stdout)
    assert found.head == head
    assert [o.operator for o in found.operators] == ["_C::rms_norm"]
    assert [t.test for t in found.tests] == ["tests/test_norm.py", "tests/test_layer.py"]
    assert (tmp_path / "cache/pulsegate/facts.sqlite").exists()


def test_only_what_the_branch_itself_changed_counts(repository):
    repository.commit(edited(PROJECT, "csrc/norm.cu", "block_sum(in, n)", "block_sum(in, 2)"))
    repository.git("checkout", "-q", "base")
    repository.commit(edited(PROJECT, "csrc/activation.cu", "x * 0.5f", "x * 0.7f"))
    assert [o.operator for o in answer(repository).operators] == ["_C::rms_norm"]


def test_a_renamed_file_is_followed(repository):
    tree = edited(PROJECT, "csrc/activation.cu", "x * 0.5f", "x * 0.7f")
    tree["csrc/act/activation.cu"] = tree.pop("csrc/activation.cu")
    repository.commit(tree)
    found = answer(repository)
    assert (found.files[0].status, found.files[0].was) == ("renamed", "csrc/activation.cu")
    assert [o.operator for o in found.operators] == ["_C::gelu", "_C::silu"]


def test_the_configuration_is_the_base_s_own(repository, run, tmp_path):
    mine = {CONFIG: '[[remove]]\noperators = ["*"]\n'}
    repository.commit({**edited(PROJECT, "csrc/norm.cu", "in, n)", "in, 2)"), **mine})
    assert [o.operator for o in answer(repository).operators] == ["_C::rms_norm"]
    repository.git("checkout", "-q", "base")
    repository.commit({**PROJECT, **mine})
    assert answer(repository).operators == []
    (tmp_path / "mine.toml").write_text('[[remove]]\ntests = ["*"]\n')
    given = Answer.model_validate_json(
        run("--json", "--config", str(tmp_path / "mine.toml")).stdout
    )
    assert ([o.operator for o in given.operators], given.tests) == (["_C::rms_norm"], [])


def test_a_wrong_configuration_of_the_base_is_said(repository, run):
    repository.git("checkout", "-q", "base")
    repository.commit({**PROJECT, CONFIG: "wrong = 1"})
    told = run()
    assert told.returncode == 2
    assert "pulsegate-kernels.toml: wrong:" in told.stderr
    assert "what to do:" in told.stderr


@pytest.mark.parametrize(("base", "head"), [("nowhere", "work"), ("base", "--upload-pack=x")])
def test_a_wrong_revision_is_said(run, base, head):
    told = run(base=base, head=head)
    assert told.returncode == 2
    assert "what to do:" in told.stderr or "Usage" in told.stderr
    assert "Traceback" not in told.stderr


def test_the_second_time_nothing_is_parsed_and_the_answer_is_the_same(repository, tmp_path):
    repository.commit(edited(PROJECT, "csrc/norm.cu", "in, n)", "in, 2)"))
    cache = tmp_path / "facts.sqlite"
    assert answer(repository, cache=cache) == answer(repository, cache=cache) == answer(repository)
    kept = FactsCache(cache, date(2026, 1, 1))
    told = []
    kernels = AffectedKernels(GitTree(repository.folder), kept, lambda *what: told.append(what))
    kernels.answer("base", "work")
    kept.close()
    assert told == []


def test_a_cache_with_nonsense_in_it_changes_nothing(repository, tmp_path):
    repository.commit(edited(PROJECT, "csrc/norm.cu", "in, n)", "in, 2)"))
    cache = tmp_path / "facts.sqlite"
    right = answer(repository, cache=cache)
    import sqlite3

    with sqlite3.connect(cache) as connection:
        connection.execute("update facts set packed = '[1, 2]'")
    connection.close()
    assert answer(repository, cache=cache) == right


def test_what_could_not_be_read_is_said(repository):
    repository.commit({**PROJECT, "csrc/cpu/huge.cpp": "int a;\n" * 200_000})
    found = answer(repository)
    assert [o.operator for o in found.operators] == ["_C::silu"]
    assert found.operators[0].flags == ["unknown"]
    assert any("could not be read" in text or "to be read" in text for text in found.warnings)


def test_names_with_controls_are_printed_plainly(repository, run):
    repository.commit({**PROJECT, "csrc/\x1b[31mred\n.cu": "void nobody() {}\n"})
    told = run()
    assert told.returncode == 0
    assert "\x1b" not in told.stdout
    assert "\\u001b" in run("--json").stdout
    json.loads(run("--json").stdout)
