"""Processes that end with their parent; the embedded servers and the supervisor test the rest."""

import subprocess
import sys

import psutil

FORKS = """
import os, signal
from app.adapters.child import die_with_parent
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    die_with_parent()
    os.write(write, b"x")
    signal.pause()
os.read(read, 1)
print(pid, flush=True)
signal.pause()
"""


def test_forked_process_dies_with_its_parent(root, wait_for):
    with subprocess.Popen(
        [sys.executable, "-c", FORKS], stdout=subprocess.PIPE, cwd=root
    ) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        assert child.is_running()
        parent.kill()
    gone = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    wait_for(lambda: not child.is_running() or child.status() in gone, "the child is gone")


def test_program_that_is_not_there_says_so(root):
    code = (
        "import subprocess\nfrom app.adapters.child import spawn\n"
        "p = spawn(['/no/such/program'], stdout=subprocess.PIPE)\n"
        "print(p.communicate()[0].decode(), p.returncode)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert "/no/such/program: No such file or directory" in done.stdout
    assert done.stdout.strip().endswith("1")
