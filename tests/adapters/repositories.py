"""Git repositories in temporary folders."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class Repository:
    """A repository whose commits are made from whole trees: path → text or bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        name = {"NAME": "t", "EMAIL": "t@localhost", "DATE": "2026-01-01T00:00:00Z"}
        for who in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{who}_{key}": value for key, value in name.items()}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=environment, check=True, capture_output=True
        )
        return done.stdout.decode(errors="replace").strip()

    def commit(self, tree: Mapping[str, str | bytes]) -> str:
        """A commit on the current branch whose tree is this one alone; its id."""
        for path in self.git("ls-files", "-z").split("\0"):
            if path:
                (self.folder / path).unlink(missing_ok=True)
        for path, text in tree.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode() if isinstance(text, str) else text)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", "tree")
        return self.git("rev-parse", "HEAD")
