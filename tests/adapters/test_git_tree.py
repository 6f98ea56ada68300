"""Reading git: what is found, and what a hostile repository cannot do."""

import os

import pytest

from app.adapters.git_tree import Blob, GitTree
from app.core.errors import UserError
from tests.adapters.repositories import Repository


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "repo")


def test_files_and_their_contents(repository):
    commit = repository.commit({"a/b.cu": "one", "ü \n.py": b"\xff\0two", "empty": ""})
    git = GitTree(repository.folder)
    files = git.files(commit)
    assert {path: blob.size for path, blob in files.items()} == {
        "a/b.cu": 3,
        "ü \n.py": 5,
        "empty": 0,
    }
    assert dict(git.read(files.values())) == {
        files["a/b.cu"].id: b"one",
        files["ü \n.py"].id: b"\xff\0two",
        files["empty"].id: b"",
    }
    assert git.blobs([files["a/b.cu"].id]) == [files["a/b.cu"]]
    assert git.text(commit, "a/b.cu", 100) == "one"
    assert git.text(commit, "no", 100) is None


def test_a_name_that_is_no_text(repository):
    repository.commit({"x": "1"})
    blob = repository.git("rev-parse", "HEAD:x")
    (repository.folder / "index").write_bytes(b"100644 %s\t\xff.cu\0" % blob.encode())
    with (repository.folder / "index").open("rb") as given:
        os.set_inheritable(given.fileno(), False)
        import subprocess

        subprocess.run(
            ["git", "update-index", "-z", "--index-info"],
            cwd=repository.folder,
            stdin=given,
            check=True,
        )
    repository.git("commit", "-q", "-m", "odd")
    git = GitTree(repository.folder)
    assert "\\xff.cu" in git.files(git.commit("HEAD"))


def test_links_and_submodules_are_left_out(repository):
    repository.commit({"real.cu": "x"})
    (repository.folder / "link.cu").symlink_to("/etc/passwd")
    repository.git("add", "link.cu")
    id_ = repository.git("rev-parse", "HEAD")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{id_},sub.cu")
    repository.git("commit", "-q", "-m", "odd")
    git = GitTree(repository.folder)
    assert set(git.files(git.commit("HEAD"))) == {"real.cu"}
    changes = git.changes(id_, git.commit("HEAD"))
    assert {(c.path, c.old, c.new) for c in changes} == {
        ("link.cu", None, None),
        ("sub.cu", None, None),
    }


def test_changes_follow_a_rename(repository):
    text = "".join(f"line {n}\n" for n in range(50))
    old = repository.commit({"a.cu": text, "b.cu": "x", "c.cu": "y"})
    new = repository.commit({"d/e.cu": text + "more\n", "b.cu": "z", "f.cu": "new"})
    found = {(c.status, c.old_path, c.path) for c in GitTree(repository.folder).changes(old, new)}
    assert found == {
        ("R", "a.cu", "d/e.cu"),
        ("M", "b.cu", "b.cu"),
        ("D", "c.cu", "c.cu"),
        ("A", "f.cu", "f.cu"),
    }


def test_where_two_branches_parted(repository):
    parted = repository.commit({"a": "1"})
    repository.git("checkout", "-q", "-b", "work")
    head = repository.commit({"a": "2"})
    repository.git("checkout", "-q", "main")
    base = repository.commit({"a": "3"})
    repository.git("checkout", "-q", "--orphan", "other")
    alone = repository.commit({"b": "4"})
    git = GitTree(repository.folder)
    assert git.merge_base(base, head) == parted
    assert git.merge_base(base, alone) is None
    assert git.commit("work") == git.commit(head[:12]) == head


@pytest.mark.parametrize(
    "revision",
    ["nothing", "--output=/tmp/owned", "-h", "", "HEAD:a", "HEAD^{tree}", "a\0b", "@{-1}"],
)
def test_what_is_no_commit_is_a_sentence(repository, revision):
    repository.commit({"a": "1"})
    with pytest.raises(UserError, match="knows no commit"):
        GitTree(repository.folder).commit(revision)


def test_what_is_no_repository_is_a_sentence(tmp_path):
    with pytest.raises(UserError, match="failed") as caught:
        GitTree(tmp_path)
    assert "--repo" in caught.value.hint


def test_only_ids_are_asked_for(repository):
    repository.commit({"a": "1"})
    git = GitTree(repository.folder)
    with pytest.raises(ValueError, match="no object id"):
        git.files("HEAD")
    with pytest.raises(UserError, match="no content"):
        list(git.read([Blob("0" * 40, 1)]))


def test_what_takes_too_long_ends(repository, tmp_path, monkeypatch):
    commit = repository.commit({"a": "1"})
    git = GitTree(repository.folder, seconds=0.5)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    with pytest.raises(UserError, match="took more than"):
        git.files(commit)


def test_what_prints_too_much_ends(repository, tmp_path, monkeypatch):
    git = GitTree(repository.folder)
    endless = tmp_path / "bin" / "git"
    endless.parent.mkdir()
    endless.write_text("#!/bin/sh\nexec yes\n")
    endless.chmod(0o755)
    monkeypatch.setenv("PATH", f"{endless.parent}:{os.environ['PATH']}")
    with pytest.raises(UserError, match="prints more than"):
        git.merge_base("0" * 40, "1" * 40)


def test_nothing_that_the_repository_configures_is_started(repository, tmp_path):
    """Hooks, filters, drivers and monitors that would leave a mark if anything ran them."""
    mark = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    script.chmod(0o755)
    old = repository.commit({"a.cu": "1", ".gitattributes": "*.cu filter=f diff=d merge=m\n"})
    new = repository.commit({"a.cu": "2", ".gitattributes": "*.cu filter=f diff=d merge=m\n"})
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "diff.external", "diff.d.command",
        "diff.d.textconv", "filter.f.smudge", "filter.f.clean", "filter.f.process", "gpg.program",
        "core.sshCommand", "credential.helper", "alias.ls-tree", "pager.diff-tree",
    ):  # fmt: skip
        repository.git("config", key, str(script))
    for hook in ("post-checkout", "pre-commit", "reference-transaction"):
        (repository.folder / ".git/hooks" / hook).symlink_to(script)
    git = GitTree(repository.folder)
    assert len(git.changes(git.commit(old), git.commit(new))) == 1
    assert git.merge_base(old, new) == old
    assert dict(git.read(git.files(new).values()))
    assert not mark.exists()


def test_a_content_that_is_not_what_its_id_says(repository):
    """Whoever writes the object files could otherwise poison a cache that is kept by id."""
    commit = repository.commit({"a": "the one", "b": "other"})
    git = GitTree(repository.folder)
    files = git.files(commit)
    objects = repository.folder / ".git/objects"
    one, other = (objects / files[p].id[:2] / files[p].id[2:] for p in "ab")
    one.chmod(0o644)
    one.write_bytes(other.read_bytes())
    with pytest.raises(UserError):
        list(git.read([files["a"]]))
