"""The supervisor with real processes: restarts with growing delays, orderly stop, no orphans."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from app.wiring import supervisor as module
from app.wiring.supervisor import Child, Supervisor

SLEEPER = "import time\nprint('ready', flush=True)\ntime.sleep(60)"
STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('ready', flush=True)\ntime.sleep(60)"
)
PARENT = (
    "import subprocess, sys, time\nchild = subprocess.Popen(['/bin/sleep', '60'])\n"
    "print(child.pid, flush=True)\ntime.sleep(60)"
)


class Lines(list):
    def __call__(self, name, line):
        self.append((name, line))

    def of(self, name):
        return [line for who, line in self if who == name]


def python(name, code, stage=0, stop_seconds=10.0):
    return Child(name, (sys.executable, "-c", code), stage, stop_seconds)


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def supervise():
    made = []

    def make(*children, servers=None):
        lines = Lines()
        made.append(Supervisor(children, env=dict(os.environ), say=lines, servers=servers))
        return made[-1], lines

    yield make
    for each in made:
        each.kill()
        each.stop()


def until(wait_for, supervisor, condition, what):
    wait_for(lambda: supervisor.tick() or condition(), what)


def test_output_carries_the_childs_name(supervise, wait_for):
    supervisor, lines = supervise(
        python("a", "print('one\\ntwo')\nimport time\ntime.sleep(60)"), python("b", SLEEPER)
    )
    until(wait_for, supervisor, lambda: len(lines) == 3, "all lines are there")
    assert lines.of("a") == ["one", "two"]
    assert lines.of("b") == ["ready"]


def test_dead_child_is_restarted_with_a_delay_that_doubles(supervise, wait_for, monkeypatch):
    monkeypatch.setattr(module, "FIRST_DELAY", 0.05)
    monkeypatch.setattr(module, "LONGEST_DELAY", 0.15)
    supervisor, lines = supervise(python("short", "raise SystemExit(3)"))
    supervisor._kept[0].delay = 0.05
    until(wait_for, supervisor, lambda: len(lines) >= 4, "four ends")
    assert lines.of("short")[:4] == [
        f"ended with exit code 3; starting it again in {delay:.1f} s"
        for delay in (0.05, 0.1, 0.15, 0.15)
    ]


def test_child_that_lived_long_starts_its_delays_anew(supervise, wait_for, monkeypatch):
    monkeypatch.setattr(module, "PROVEN_SECONDS", 0.0)
    supervisor, lines = supervise(python("a", SLEEPER))
    until(wait_for, supervisor, lambda: lines, "it runs")
    supervisor._kept[0].delay = 8.0
    os.kill(supervisor.pids["a"], signal.SIGKILL)
    until(wait_for, supervisor, lambda: len(lines) == 2, "its end is noted")
    assert lines.of("a")[1] == "was ended by SIGKILL; starting it again in 0.2 s"
    until(wait_for, supervisor, lambda: supervisor.pids.get("a"), "it runs again")


def test_what_a_killed_child_leaves_is_killed_before_its_restart(supervise, wait_for):
    supervisor, lines = supervise(python("pool", PARENT))
    until(wait_for, supervisor, lambda: lines, "the grandchild runs")
    grandchild = int(lines[0][1])
    os.kill(supervisor.pids["pool"], signal.SIGKILL)
    until(wait_for, supervisor, lambda: len(lines) == 2, "the end is noted")
    wait_for(lambda: not alive(grandchild), "the grandchild is gone")


def test_stop_goes_by_stages_and_kills_what_ignores_it(supervise, wait_for):
    first = (
        "import signal, sys, time\n"
        "def end(*_):\n    time.sleep(0.3)\n    print('ends', flush=True)\n    sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\nprint('ready', flush=True)\ntime.sleep(60)"
    )
    supervisor, lines = supervise(
        python("second", STUBBORN, 1, 0.2), python("third", SLEEPER, 2), python("first", first, 0)
    )
    until(wait_for, supervisor, lambda: len(lines) == 3, "all run")
    pids = supervisor.pids
    supervisor.stop()
    assert lines[3:] == [("first", "ends"), ("second", "did not end in 0 s; killed")]
    assert not any(map(alive, pids.values()))
    assert supervisor.pids == {}


def test_servers_are_restarted_too(supervise):
    class Dying:
        def poll(self):
            return ["PostgreSQL"]

    supervisor, lines = supervise(servers=Dying())
    supervisor.tick()
    assert lines == [("PostgreSQL", "had ended; started again")]


def test_run_stops_everything_also_after_an_error(supervise, wait_for):
    supervisor, lines = supervise(python("a", SLEEPER))
    seen = []

    def wanted():
        if lines:
            seen.extend(supervisor.pids.values())
            raise RuntimeError
        return True

    with pytest.raises(RuntimeError):
        supervisor.run(wanted)
    assert seen
    assert not any(map(alive, seen))


SUPERVISE = """
import os, sys
from app.wiring.supervisor import Child, Supervisor
children = [Child(n, (sys.executable, "-c", sys.argv[1])) for n in "ab"]
Supervisor(children, env=dict(os.environ), say=lambda n, l: print(n, l, flush=True)).run(lambda: True)
"""


def test_nothing_is_left_when_the_supervisor_is_killed(root, wait_for):
    code = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISE, code], stdout=subprocess.PIPE, cwd=root
    ) as supervisor:
        pids = [int(supervisor.stdout.readline().split()[1]) for _ in range(2)]
        assert all(map(alive, pids))
        supervisor.kill()
    wait_for(lambda: not any(map(alive, pids)), "both children are gone")


def test_child_of_a_parent_that_is_dead_already_does_not_run(root, tmp_path, wait_for):
    mark = tmp_path / "ran"
    # The parent dies before the launcher can ask the kernel to tell it.
    code = (
        "import os, sys\nfrom app.adapters import child\n"
        "child._LAUNCHER = 'import time; time.sleep(0.3)\\n' + child._LAUNCHER\n"
        f"child.spawn(['/usr/bin/touch', {str(mark)!r}])\nprint('started', flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=root, check=False)
    begin = time.monotonic()
    wait_for(lambda: time.monotonic() - begin > 0.6, "the launcher has had its time")
    assert not mark.exists()
