"""The reference of `.github/pulsegate.yml`, from its types."""

import json
from collections.abc import Iterator
from typing import Any

from app.core.modes import Mode
from app.core.policy import LIMIT, PATH
from app.core.rules import RULES
from app.core.schema import schema

EXAMPLE = """\
version: 1
mode: close               # how far the gate may go here at all
label: needs-verification
language: en              # or zh-CN

ladder:
  grace_hours: 72         # between the question and the close
  # limit: {closes: 20, minutes: 60, group: existing_users, expiry: one_day}

rules:
  burst: {mode: close, prs: 5, minutes: 10, everywhere: {prs: 20, minutes: 10}}
  unattended: {mode: ask}
  accepted_issue:
    mode: close
    labels: [accepted, help wanted, good first issue]
    exempt_paths: ["*.md", "/docs/"]
  cap: {mode: close, open: 3, drafts: false}
  template: {mode: ask, sections: [What, How tested]}
  paths: {mode: ask, patterns: [/.github/, "*.lock"]}
  diff_shape: {mode: observe}       # tried out: recorded, and told to nobody
  same_issue: {mode: ask}
  apps: {mode: ask, allowed: [4711]}
  # pause: {start: 2026-12-20, until: 2027-01-04, message: "We are on holiday."}

exempt:
  accounts: []            # numeric account ids
"""


def page() -> str:
    """docs/policy.md."""
    made = schema()
    lines = [
        "# Policy",
        "",
        f"`{PATH}` says what the gate may do in a repository. It is read from the default branch only, when it "
        f"is pushed there, and every night. At most {LIMIT:,} bytes of YAML 1.2 without aliases and tags: `true` "
        "and `false`, not `yes` and `no`. Unknown keys, and keys that stand twice, are refused.",
        "",
        "**An organisation's default** is the same file in its repository `.github`. A repository's own file is laid "
        "over it: mappings merge key by key, lists and single values replace. What neither says has the defaults "
        "below.",
        "",
        "**While a file has an error, the last good one stays in force**, and where GitHub does not answer nothing "
        "changes. A pull request that changes the file gets a check run `pulsegate/config` with each error at its "
        "line; it never blocks. Before that, `pulsegate config check FILE`, or `POST /api/validate`, says the same, "
        "and an editor that knows JSON Schema reads `schema/pulsegate.json`, which the service has at "
        "`/schema/pulsegate.json`. What a change would decide about a pull request is tried on its page, or by "
        "`POST /api/simulate/OWNER/REPO/NUMBER`.",
        "",
        "## Modes and the ladder",
        "",
        "Modes, each including the ones before it: "
        + ", ".join(f"`{mode.word}`" for mode in Mode)
        + ". In force is the smaller of the repository's and the rule's own. A rule in `observe` is tried out: "
        "what it would do is recorded for maintainers and told to nobody.",
        "",
        "A rule climbs the ladder label → ask → wait → close → limit as far as its mode lets it. In mode `close` it "
        "puts the label on, asks in a comment of its own, waits for the grace window, and closes only if the author "
        "did nothing in it: a comment, a push, an edit, a review of the author's, and of nobody else's, ends the "
        "clock for good. A merge of the base by *Update branch* is nobody's activity. What the comment announced is "
        "never made shorter, and a close that no comment announced is announced first. A question that no longer "
        "counts (held, taken over, exempt, vouched for, closed by an order) is edited to say so. "
        "`grace_hours: 0` closes at once. What a rule closed is opened again by itself when it no longer applies, "
        "where its text below says so.",
        "",
        "## A whole file",
        "",
        "```yaml",
        EXAMPLE.rstrip(),
        "```",
        "",
        "## Keys",
        "",
        "| key | values | default | meaning |",
        "|---|---|---|---|",
        *_rows(made, made, ""),
        "",
        "Patterns of paths are as in `.gitignore`; they are matched in linear time, whatever they are.",
        "",
        "## Rules",
        "",
    ]
    for rule in RULES:
        lines += [f"### {rule.name}", "", rule.about, ""]
        node = _resolved(made, made["properties"]["rules"])
        lines += ["| key | values | default | meaning |", "|---|---|---|---|"]
        lines += [*_rows(made, _resolved(made, node["properties"][rule.name]), ""), ""]
    return "\n".join(lines).rstrip() + "\n"


def schema_text() -> str:
    """schema/pulsegate.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _resolved(root: Any, node: Any) -> Any:
    while "$ref" in node:
        more = {key: value for key, value in node.items() if key != "$ref"}
        node = {**root["$defs"][node["$ref"].rsplit("/", 1)[1]], **more}
    return node


def _rows(root: Any, model: Any, prefix: str) -> Iterator[str]:
    for name, raw in model["properties"].items():
        node = _resolved(root, raw)
        inner = next((n for n in _kinds(root, node) if "properties" in n), None)
        text = (node.get("description") or "").split("\n")[0].replace("|", "\\|")
        if f"{prefix}{name}" == "rules":
            yield "| `rules` | see below | | " + text + " |"
            continue
        yield f"| `{prefix}{name}` | {_values(root, node)} | {_default(node)} | {text} |"
        if inner is not None:
            yield from _rows(root, inner, f"{prefix}{name}.")


def _kinds(root: Any, node: Any) -> list[Any]:
    return [_resolved(root, one) for one in node.get("anyOf", [node])]


def _values(root: Any, node: Any) -> str:
    words = [_value(root, kind) for kind in _kinds(root, node)]
    return " or ".join(word for word in words if word)


def _value(root: Any, kind: Any) -> str:
    if "properties" in kind:
        return "keys below"
    if "const" in kind:
        return f"`{kind['const']}`"
    if "enum" in kind:
        modes = [mode.word for mode in Mode]
        return "a mode" if kind["enum"] == modes else ", ".join(f"`{e}`" for e in kind["enum"])
    match kind.get("type"):
        case "null":
            return "nothing"
        case "boolean":
            return "`true`, `false`"
        case "integer" | "number" if "maximum" in kind:
            if "exclusiveMinimum" in kind:
                return f"above {kind['exclusiveMinimum']:,}, up to {kind['maximum']:,}"
            return f"{kind['minimum']:,} to {kind['maximum']:,}"
        case "integer" | "number":
            return "a number"
        case "array":
            item = _resolved(root, kind["items"])
            return "a list of numbers" if item.get("type") == "integer" else "a list of texts"
        case _:
            return "text"


def _default(node: Any) -> str:
    value = node.get("default")
    if value in (None, "", []) or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
