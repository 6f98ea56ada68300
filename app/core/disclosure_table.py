"""The exact forms by which pull requests say themselves that an agent helped, each with its source.

Three rules keep people out of it. A name alone never counts: there are people called Claude, Devin
and Jules. An address counts whole, never by its domain: vendors' staff commit from vendors' domains.
An account counts by its numeric id, since logins are renamed and recycled.
"""

from typing import Literal, NamedTuple

TABLE_VERSION = "2026-12-01"

FormKind = Literal["branch", "app", "email", "noreply", "trailer", "footer"]


class Form(NamedTuple):
    """One form.

    `kind` says where `value` is looked for: `branch`, a prefix of the head branch; `app`, the
    author's account id; `email`, a whole address in a trailer that names a person; `noreply`, the
    account id within GitHub's `ID+login@users.noreply.github.com` there; `trailer`, the beginning
    of a line `Key: value`; `footer`, the beginning of a link or line in the body. All in lower case.
    """

    kind: FormKind
    value: str
    name: str
    source: str


_BRANCHES = "the vendor's documentation of its branches"
_ACCOUNT = "the account's page on GitHub, /users/LOGIN in the API"
_COMMITS = "commits in public repositories"

FORMS: tuple[Form, ...] = (
    # Claude Code
    Form(
        "branch", "claude/", "Claude Code", "anthropics/claude-code-action, docs/configuration.md"
    ),
    Form("app", "209825114", "Claude Code", f"claude[bot]: {_ACCOUNT}"),
    Form("email", "noreply@anthropic.com", "Claude Code", "Claude Code settings, `attribution`"),
    Form("noreply", "209825114", "Claude Code", f"claude[bot]: {_COMMITS}"),
    Form("trailer", "claude-session: https://claude.ai/code/", "Claude Code", _COMMITS),
    Form("footer", "generated with [claude code](", "Claude Code", "Claude Code settings"),
    # Codex
    Form("branch", "codex/", "Codex", f"OpenAI Codex: {_BRANCHES}"),
    Form("app", "199175422", "Codex", f"chatgpt-codex-connector[bot]: {_ACCOUNT}"),
    Form("email", "noreply@openai.com", "Codex", f"Codex CLI: {_COMMITS}"),
    Form("email", "codex@openai.com", "Codex", f"Codex CLI: {_COMMITS}"),
    Form("noreply", "199175422", "Codex", f"chatgpt-codex-connector[bot]: {_COMMITS}"),
    Form("trailer", "ai-agent: codex", "Codex", _COMMITS),
    Form("footer", "https://chatgpt.com/codex/tasks/", "Codex", "pull requests of Codex in AIDev"),
    # Copilot: three accounts, of the coding agent, the chat and the command line
    Form("branch", "copilot/", "Copilot", f"GitHub Copilot coding agent: {_BRANCHES}"),
    Form("app", "198982749", "Copilot", f"copilot-swe-agent[bot]: {_ACCOUNT}"),
    Form("email", "copilot@github.com", "Copilot", _COMMITS),
    Form("noreply", "198982749", "Copilot", f"copilot-swe-agent[bot]: {_COMMITS}"),
    Form("noreply", "175728472", "Copilot", f"Copilot: {_COMMITS}"),
    Form("noreply", "223556219", "Copilot", f"Copilot CLI: {_COMMITS}"),
    # Cursor
    Form("branch", "cursor/", "Cursor", f"Cursor cloud agents: {_BRANCHES}"),
    Form("app", "206951365", "Cursor", f"cursor[bot]: {_ACCOUNT}"),
    Form("email", "cursoragent@cursor.com", "Cursor", f"vllm-project/vllm: {_COMMITS}"),
    Form("noreply", "206951365", "Cursor", f"cursor[bot]: {_COMMITS}"),
    Form("footer", "made with [cursor](", "Cursor", "Cursor settings, attribution"),
    # Devin
    Form("branch", "devin/", "Devin", f"Devin: {_BRANCHES}"),
    Form("app", "158243242", "Devin", f"devin-ai-integration[bot]: {_ACCOUNT}"),
    Form("noreply", "158243242", "Devin", f"devin-ai-integration[bot]: {_COMMITS}"),
    Form("footer", "https://app.devin.ai/sessions/", "Devin", "pull requests of Devin in AIDev"),
    # Jules
    Form("app", "161369871", "Jules", f"google-labs-jules[bot]: {_ACCOUNT}"),
    Form("email", "jules@google.com", "Jules", _COMMITS),
    Form("noreply", "161369871", "Jules", f"google-labs-jules[bot]: {_COMMITS}"),
    Form("footer", "pr created automatically by jules for task [", "Jules", "Jules: pull requests"),
    Form("footer", "https://jules.google.com/task/", "Jules", "Jules: pull requests"),
    # Gemini
    Form("email", "gemini-cli@google.com", "Gemini CLI", _COMMITS),
    Form("noreply", "176961590", "Gemini Code Assist", f"gemini-code-assist[bot]: {_COMMITS}"),
    # Others, by the trailer that each writes
    Form("email", "qwen-coder@alibabacloud.com", "Qwen Code", "QwenLM/qwen-code, gitCoAuthor"),
    Form("branch", "openhands/", "OpenHands", f"OpenHands resolver: {_BRANCHES}"),
    Form("email", "openhands@all-hands.dev", "OpenHands", "OpenHands, system prompt"),
    Form("email", "aider@aider.chat", "aider", "Aider-AI/aider, aider/repo.py"),
    Form("email", "noreply@aider.chat", "aider", "Aider-AI/aider, aider/repo.py, older versions"),
    Form("email", "amp@ampcode.com", "Amp", f"paradigmxyz/reth: {_COMMITS}"),
    Form("trailer", "amp-thread-id: https://ampcode.com/threads/", "Amp", _COMMITS),
    Form("trailer", "amp-thread: https://ampcode.com/threads/", "Amp", _COMMITS),
    Form("email", "windsurf@codeium.com", "Windsurf", _COMMITS),
    Form("email", "cascade@windsurf.ai", "Windsurf", _COMMITS),
    Form("noreply", "240665456", "Kilo Code", f"kiloconnect[bot], Kilo-Org/kilocode: {_COMMITS}"),
    Form("email", "noreply@opencode.ai", "opencode", _COMMITS),
    Form("footer", "generated with [opencode](", "opencode", "public pull requests"),
    Form("email", "crush@charm.land", "Crush", "charmbracelet/crush, attribution"),
    Form("email", "noreply@continue.dev", "Continue", _COMMITS),
    Form("email", "traecli@bytedance.com", "TRAE CLI", _COMMITS),
    Form("email", "noreply@tabnine.com", "Tabnine CLI", _COMMITS),
    Form("email", "noreply@kimchi.dev", "Kimchi", "getkimchi/kimchi, pull request 104"),
    Form("noreply", "138933559", "Factory Droid", f"factory-droid[bot]: {_COMMITS}"),
    Form("noreply", "208079219", "Amazon Q", f"amazon-q-developer[bot]: {_COMMITS}"),
)
