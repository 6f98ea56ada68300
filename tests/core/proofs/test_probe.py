"""What is asked of a change, what is not, and that no diff can make the question say its own words."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.proofs.diff import MOST_LINES, Patch, from_git, lines
from app.core.proofs.probe import Probe
from app.core.proofs.question import question
from app.core.proofs.symbols import defined, parameters
from app.core.render import in_markdown
from app.core.said import english


def one(path: str, *rows: str, status: str = "modified", heading: str = "") -> Patch:
    text = "\n".join([f"@@ -1,9 +1,9 @@ {heading}".rstrip(), *rows])
    return Patch.model_validate({"path": path, "status": status, "text": text})


def ask(*patches: Patch, title: str = "A change", body: str = "", pick: int = 0) -> Probe | None:
    return question(patches, title, body, pick)


def said(*patches: Patch, body: str = "") -> str:
    found = ask(*patches, body=body)
    assert found is not None
    return f"[{found.kind}] {found.sentence}"


def test_a_value_that_changed() -> None:
    patch = one("app/pool.py", "-    timeout = 30", "+    timeout = 45")
    assert said(patch) == (
        "[value] In **app/pool.py**, **timeout** goes from 30 to 45. How did you come to 45, and what "
        "changes when you run it?"
    )
    # What the description says already is not asked.
    assert ask(patch, body="A timeout of 45 seconds is what the proxy has") is None


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("setup.py", 'version = "1.2"', 'version = "1.3"'),
        ("a.py", "# Copyright 2024", "# Copyright 2025"),
        ("README.md", "size = 3", "size = 4"),
        ("poetry.lock", "size = 3", "size = 4"),
        ("tests/test_a.py", "size = 3", "size = 4"),
        ("a.py", "size = 3 + 1", "size = 4 + 2"),
    ],
)
def test_numbers_that_say_nothing_are_not_asked_about(path: str, old: str, new: str) -> None:
    assert ask(one(path, f"-{old}", f"+{new}")) is None


def test_a_new_condition() -> None:
    patch = one(
        "src/router.go", " x := 1", "+	if len(nodes) == 0 {", "+		return nil", "+	}"
    )
    assert said(patch) == (
        "[condition] There is a new condition in **src/router.go**: len(nodes) == 0. With which input "
        "did you see it hold?"
    )
    moved = one("src/router.go", "-	if len(nodes) == 0 {", "+	if len(nodes) == 0 {")
    assert ask(moved) is None
    words = one("a.py", '+    if text == "@maintainers merge this, see evil.example":')
    assert ask(words) is None


def test_errors_that_are_handled_now() -> None:
    assert "handles **TimeoutError** now" in said(one("a.py", "+    except TimeoutError as e:"))
    assert ask(one("a.py", "+    except Exception:")) is None


def test_functions_that_came_went_and_take_many_things() -> None:
    new = one("a/b.py", "+def merge(parts: list[str]) -> str:", status="added")
    many = one("a/b.py", "+def split_batch(batch: Batch) -> None:", "+    send(batch[0])")
    guarded = one("a/b.py", "+def split_batch(batch: Batch) -> None:", "+    if not batch:")
    gone = one("a/b.py", "-def legacy_merge(a):", "-    return a")
    assert said(new).startswith("[added] **merge** in **a/b.py** is new.")
    assert said(many) == "[empty] What does **split_batch** in **a/b.py** do when batch is empty?"
    assert "empty" not in said(guarded)
    assert said(gone).startswith("[removed] **legacy_merge** is gone from **a/b.py**.")


def test_dependencies_far_files_and_functions_that_were_touched() -> None:
    needs = one("requirements.txt", " attrs==25.1", "+httpx==0.28")
    assert said(needs).startswith("[dependency] **requirements.txt** asks for **httpx** now.")
    assert ask(needs, body="uses httpx") is None
    assert ask(one("pyproject.toml", '+python_version = "3.12"')) is None
    assert "**httpx**" in said(one("pyproject.toml", '+    "httpx>=0.28",'))
    near = [one(f"core/{name}.py", "+x = y") for name in "abc"]
    far = one("web/page.py", "+x = y")
    assert (
        said(*near, far)
        == "[file] Most of this change is in **core**. Why does it need **web/page.py** too?"
    )
    touched = one("a.py", "+    x = y", heading="def resolve(self, name):")
    assert said(touched) == (
        "[touched] The change in **a.py** touches **resolve**. Which input did you run it with, before "
        "and after?"
    )


def test_where_nothing_fits_nothing_is_asked() -> None:
    assert ask() is None
    assert ask(one("README.md", "+Some words", "+if x == 1:")) is None
    assert ask(Patch(path="logo.png", status="added")) is None
    assert ask(one("package-lock.json", '+"left-pad": "1.3.0"')) is None


def test_the_choice_is_the_callers_randomness_and_nothing_else() -> None:
    change = [one("a.py", "-size = 3", "+size = 4"), one("b.py", "+    except KeyError:")]
    kinds = [found.kind for pick in range(4) if (found := ask(*change, pick=pick))]
    assert kinds == ["value", "caught", "value", "caught"]
    assert ask(*change, pick=7) == ask(*change, pick=7)


ROWS = st.lists(
    st.one_of(
        st.text(max_size=400),
        st.sampled_from(
            ["-x = 3", "+x = 4", "+if a == b:", "+def go_on(items):", "@@ -1 +1 @@ def f"]
        ),
    ),
    max_size=40,
).map("\n".join)


@given(st.text(max_size=120), ROWS, st.text(max_size=200), st.integers(0, 99))
@settings(max_examples=150)
def test_no_diff_breaks_it_or_speaks_through_it(path: str, text: str, body: str, pick: int) -> None:
    patches = [
        Patch(path=path, status="modified", text=text),
        Patch(path="a/b.py", status="modified", text=text),
    ]
    found = question(patches, "", body, pick)
    if found is not None:
        shown = in_markdown(english, found.sentence)
        assert len(shown) < 900
        assert "\n" not in shown
        assert "@" not in shown.replace("@\u2060", "")


@pytest.mark.parametrize(
    "row",
    [
        "+" + "*&" * 140,
        "+a " * 90,
        "+" + "(" * 290,
        "+if " + "(" * 280,
        "-" + "1 " * 140,
        "+def f(" + "a," * 140,
    ],
)
@pytest.mark.parametrize("path", ["a.c", "a.py", "a.java", "a.ts", "requirements.txt"])
def test_hostile_lines_cost_no_time(path: str, row: str) -> None:
    started = time.perf_counter()
    ask(one(path, *[row] * MOST_LINES))
    assert time.perf_counter() - started < 3


def test_a_diff_is_bounded() -> None:
    many = one("a.py", *["+x"] * (2 * MOST_LINES))
    assert len(list(lines(many))) == MOST_LINES - 1
    assert not list(lines(one("a.py", "+" + "x" * 1000)))


@pytest.mark.parametrize(
    ("file", "line", "name"),
    [
        ("a.py", "    async def fetch_all(self):", "fetch_all"),
        ("a.go", "func (s *Server) Serve(ctx context.Context) error {", "Serve"),
        ("a.rs", "    pub(crate) async fn poll_next<T>(x: T)", "poll_next"),
        ("a.ts", "export const loadPage = async (id: string): Promise<void> => {", "loadPage"),
        ("a.tsx", "export default function Gallery(props) {", "Gallery"),
        (
            "a.java",
            "    public static Map<String, Integer> countWords(List<String> x) {",
            "countWords",
        ),
        ("a.cu", "__global__ void reduce_rows(const float* in, int n) {", "reduce_rows"),
        ("a.cpp", "int Pool::acquire(int n)", "acquire"),
        ("a.cpp", "    return acquire(n);", None),
        ("a.py", "def main():", None),
        ("a.txt", "def foo_bar():", None),
    ],
)
def test_functions_by_language(file: str, line: str, name: str | None) -> None:
    assert defined(line, file) == name


def test_parameters_without_their_types() -> None:
    assert parameters("def f(self, items: list[int], count=3):") == ("self", "items", "count")
    assert "items" in parameters("void f(std::vector<int> items)")


def test_what_git_prints() -> None:
    text = (
        "diff --git a/x.py b/y.py\nsimilarity index 90%\nrename from x.py\nrename to y.py\n"
        "--- a/x.py\n+++ b/y.py\n@@ -1 +1 @@\n-size = 3\n+size = 4\n"
        "diff --git a/logo.png b/logo.png\nBinary files differ\n"
        "diff --git a/z.py b/z.py\ndeleted file mode 100644\n--- a/z.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    first, second = from_git(text)
    assert (first.path, first.status) == ("y.py", "renamed")
    assert [line.text for line in lines(first)] == ["size = 3", "size = 4"]
    assert (second.path, second.status) == ("z.py", "removed")
