"""The story of the recorded day: who did what, when. All invented; times are UTC.

A normal Monday of an inference engine, and within it one account that opens 43 pull requests
between 13:02 and 13:12 and never answers.
"""

# ruff: noqa: E501 - a table of speech
# fmt: off
from typing import NamedTuple


class Person(NamedTuple):
    """An account of the story. `role` is its permission here, None for most people."""

    id: int
    association: str
    role: str | None = None
    type: str = "User"


class Step(NamedTuple):
    """Something that happened to a pull request. `text` is what the verb needs."""

    time: str
    verb: str
    who: str
    text: str = ""


class Pull(NamedTuple):
    """A pull request of the day with all that happened to it."""

    time: str
    author: str
    ref: str
    title: str
    body: str
    steps: tuple[Step, ...] = ()
    repository: str = "lumen"
    draft: bool = False


ADMIN, TOBI, MAREK, SUNNIVA = "ines-halvorsen", "tobi-adeyemi", "marek-dvorsky", "sunniva-r"
FLOOD = "zephyr-patchworks"

PEOPLE = {
    ADMIN: Person(990000001, "OWNER", "admin"),
    TOBI: Person(990000002, "MEMBER", "maintain"),
    MAREK: Person(990000003, "MEMBER", "write"),
    # A private member: GitHub's hint does not show it, only the live permission does.
    "keiko-amano": Person(990000004, "CONTRIBUTOR", "write"),
    SUNNIVA: Person(990000005, "COLLABORATOR", "triage"),
    "claude-moreau": Person(990000011, "CONTRIBUTOR"),
    "priya-raghunath": Person(990000012, "CONTRIBUTOR"),
    "leo-baptista": Person(990000013, "CONTRIBUTOR"),
    "hanna-wikstrom": Person(990000014, "CONTRIBUTOR"),
    "oyelaran-dev": Person(990000015, "CONTRIBUTOR"),
    "chen-yulan": Person(990000016, "CONTRIBUTOR"),
    "rsanchez-hpc": Person(990000017, "CONTRIBUTOR"),
    "mina-tavakoli": Person(990000018, "CONTRIBUTOR"),
    "dmitri-volkhov": Person(990000019, "CONTRIBUTOR"),
    "paddy-oconnell": Person(990000020, "FIRST_TIME_CONTRIBUTOR"),
    "sofia-kreml": Person(990000021, "NONE"),
    "b0tanik": Person(990000022, "FIRST_TIMER"),
    "amara-nwosu": Person(990000023, "FIRST_TIMER"),
    "jj-first-pr": Person(990000024, "FIRST_TIMER"),
    "wiktor-zed": Person(990000025, "NONE"),
    "lin-zhaohui": Person(990000026, "FIRST_TIME_CONTRIBUTOR"),
    "gone-tomorrow-77": Person(990000027, "NONE"),
    "ravi-embedded": Person(990000028, "NONE"),
    FLOOD: Person(990000099, "NONE"),
    "dependabot[bot]": Person(49699333, "CONTRIBUTOR", None, "Bot"),
}

PULLS = (
    Pull("00:41", "rsanchez-hpc", "fix-numa-pinning", "Pin worker threads to the NUMA node of their GPU",
         "On two-socket machines the copy thread ended up on the far node.\n\nMeasured on 2x Genoa with four cards: "
         "host-to-device 19.1 -> 24.8 GB/s. Falls back to no pinning when libnuma is absent.",
         (Step("07:32", "review", MAREK, "Nice find. Can you add the fallback to the test matrix?"),
          Step("08:05", "push", "rsanchez-hpc"),
          Step("08:06", "comment", "rsanchez-hpc", "Added, CI runs it without libnuma now."),
          Step("09:14", "approve", MAREK), Step("09:15", "merge", MAREK))),
    Pull("02:17", "chen-yulan", "fix-paged-kv-oob", "修复分页 KV 缓存在长上下文下的越界读取",
         "当序列长度恰好是 block_size 的整数倍时，最后一个 block 的索引会越界。\n\n复现：`pytest tests/test_paged_kv.py -k boundary`。"
         "已在 A100 上验证，附带一个回归测试。",
         (Step("03:02", "comment", "keiko-amano", "谢谢！能否在英文里也加一句提交说明，方便其他人查阅？"),
          Step("03:20", "push", "chen-yulan"), Step("03:21", "comment", "chen-yulan", "已更新，谢谢。Commit message is in English now."),
          Step("07:50", "label", SUNNIVA, "bug"), Step("08:31", "approve", "keiko-amano"), Step("08:33", "merge", "keiko-amano"))),
    Pull("04:02", "dependabot[bot]", "dependabot/pip/pybind11-3.0.2", "Bump pybind11 from 3.0.1 to 3.0.2",
         "Bumps pybind11 from 3.0.1 to 3.0.2.\n\n---\nupdated-dependencies:\n- dependency-name: pybind11\n  update-type: version-update:semver-patch",
         (Step("04:02", "label", "dependabot[bot]", "dependencies"), Step("09:40", "merge", MAREK))),
    Pull("06:24", "priya-raghunath", "rope-table-fp32", "Keep the RoPE table in fp32",
         "In bf16 the angles beyond 32k positions collapse to a few values. Costs 2 MB.",
         (Step("08:44", "comment", TOBI, "What does it do to decode latency?"),
          Step("08:58", "comment", "priya-raghunath", "Nothing that I can measure: 11.42 ms before, 11.41 ms after, 500 runs each."),
          Step("10:02", "approve", TOBI), Step("10:03", "merge", TOBI))),
    Pull("06:51", "amara-nwosu", "patch-1", "fix typo",
         "i saw the word recieve in the docs so i fixed it. first pull request ever!!",
         (Step("07:41", "comment", SUNNIVA, "Welcome, and thank you! Could you fix the same word in docs/serving.md?"),
          Step("08:12", "push", "amara-nwosu"), Step("08:13", "comment", "amara-nwosu", "done i think? tell me if its wrong"),
          Step("08:20", "approve", SUNNIVA), Step("09:16", "merge", MAREK))),
    Pull("07:03", "dmitri-volkhov", "rocm-wave64", "Reduce with wave64 on gfx9", "The 32-lane shuffle left half of the wave idle. "
         "Softmax is 1.3x faster on MI300.", (Step("09:50", "review", "keiko-amano", "Does gfx11 still take the old path?"),
          Step("11:34", "comment", "dmitri-volkhov", "Yes, it is chosen by warpSize at compile time."),
          Step("14:22", "approve", "keiko-amano"), Step("14:23", "merge", "keiko-amano")), "lumen-kernels"),
    Pull("07:22", "claude-moreau", "tokenizer-threads", "Release the GIL while tokenizing",
         "Long prompts blocked the event loop. With this the p99 of /health under load drops from 840 ms to 12 ms.",
         (Step("08:50", "review", MAREK, "Can two threads share one tokenizer here?"),
          Step("09:05", "comment", "claude-moreau", "They can: the merge table is read-only after load. I added a sentence to the docstring."),
          Step("09:06", "push", "claude-moreau"), Step("11:20", "approve", MAREK), Step("11:21", "merge", MAREK))),
    Pull("07:48", "hanna-wikstrom", "metrics-queue-depth", "Export the queue depth as a gauge", "We alert on it at work and patched it in downstream.",
         (Step("08:40", "comment", SUNNIVA, "Would a histogram tell you more?"),
          Step("09:22", "comment", "hanna-wikstrom", "For waiting time yes, but that one exists already. This is for autoscaling."),
          Step("12:12", "approve", TOBI), Step("12:13", "merge", TOBI))),
    Pull("08:09", "leo-baptista", "claude/stream-backpressure", "Apply backpressure to slow streaming clients",
         "A client that reads slowly made us buffer its whole answer. Now the scheduler pauses the sequence at 256 kB.\n\n"
         "I wrote the tests, the agent wrote most of the change, I read all of it and ran it against our staging load.\n\n"
         "Assisted-by: Claude Code",
         (Step("09:31", "review", TOBI, "What happens to the KV blocks of a paused sequence?"),
          Step("09:52", "comment", "leo-baptista", "They stay resident for 30 s, then the sequence is swapped out like any preempted one. "
               "test_paused_sequence_is_swapped covers it."),
          Step("10:40", "push", "leo-baptista"), Step("14:02", "approve", TOBI), Step("14:03", "merge", TOBI))),
    Pull("08:26", TOBI, "scheduler-split", "Split the scheduler into admission and batching", "No change in behaviour. Prepares chunked prefill.",
         (Step("09:58", "approve", MAREK), Step("10:10", "merge", TOBI))),
    Pull("08:47", "jj-first-pr", "main", "Update README.md", "hi, command didnt work for me, with this it works",
         (Step("09:12", "comment", SUNNIVA, "Thanks for telling us. Which shell do you use? The quotes matter for zsh only."),
          Step("10:55", "comment", "jj-first-pr", "zsh on mac"), Step("11:02", "edit", "jj-first-pr", "README: quote the extras so that zsh does not expand them"),
          Step("11:10", "approve", SUNNIVA), Step("11:22", "merge", MAREK))),
    Pull("09:02", "mina-tavakoli", "int8-kv-scales", "Store int8 KV scales per head", "Per-tensor scales cost 0.4 points on the long-context set. Table in docs/quantization.md.",
         (Step("10:31", "push", "mina-tavakoli"), Step("12:20", "ready", "mina-tavakoli"),
          Step("12:45", "review", "keiko-amano", "Please also give numbers for grouped-query models."),
          Step("14:31", "comment", "mina-tavakoli", "Added the rows for 8 and 4 groups."), Step("14:31", "push", "mina-tavakoli"),
          Step("15:40", "label", "keiko-amano", "kernels")), draft=True),
    Pull("09:21", "oyelaran-dev", "fix-abort-race", "Do not free blocks twice when a request is aborted", "Found with the fault injector: abort between prefill and first decode.",
         (Step("09:59", "approve", MAREK), Step("10:04", "merge", MAREK))),
    Pull("09:34", "sofia-kreml", "patch-2", "add my gpu", "RX 7800 XT works, tested with the 7b model, 41 tok/s",
         (Step("10:15", "comment", "keiko-amano", "Good to know! Which driver version?"), Step("12:02", "comment", "sofia-kreml", "rocm 6.4.1 kernel 6.14"),
          Step("12:30", "merge", "keiko-amano"))),
    Pull("10:05", "oyelaran-dev", "test-abort-race", "Test: abort at every await point", "Follow-up to the double free of this morning.",
         (Step("10:38", "approve", MAREK), Step("10:39", "merge", MAREK))),
    Pull("10:19", "oyelaran-dev", "docs-abort", "Docs: what abort guarantees", "Third and last of the series.",
         (Step("10:52", "comment", TOBI, "Very clear, thank you."), Step("10:53", "merge", TOBI))),
    Pull("10:27", "wiktor-zed", "windows-paths", "windows paths", "backslash in model path broke loading. sorry for bad english",
         (Step("11:15", "review", SUNNIVA, "No need to be sorry. pathlib would do it without the replace(), see my suggestion."),
          Step("11:48", "push", "wiktor-zed"), Step("11:49", "comment", "wiktor-zed", "changed to pathlib, thank you, works here"),
          Step("13:40", "edit", "wiktor-zed", "Load models from paths with backslashes"), Step("15:12", "approve", MAREK), Step("15:13", "merge", MAREK))),
    Pull("10:44", ADMIN, "release-0-19-notes", "Release notes for 0.19", "Please add what I forgot.",
         (Step("11:30", "comment", "hanna-wikstrom", "The queue gauge is missing."), Step("11:52", "push", ADMIN), Step("16:05", "merge", ADMIN))),
    Pull("11:06", "gone-tomorrow-77", "fix-help-text", "Correct the default in --max-batch help", "It says 64, the code says 128.",
         (Step("11:41", "comment", SUNNIVA, "Right. Would you sign off the commit, please?"), Step("14:50", "deleted", SUNNIVA, "stale-author"))),
    Pull("11:28", "ravi-embedded", "jetson-build", "Build on Jetson Orin", "CMake looked for libcuda in the wrong stubs folder on aarch64. Log before and after in the first comment.",
         (Step("11:29", "comment", "ravi-embedded", "Before: `cannot find -lcuda`. After: builds, 212 of 212 tests pass on Orin NX 16 GB."),
          Step("12:58", "review", "keiko-amano", "Can you reduce it to the find_library call?"),
          Step("13:35", "push", "ravi-embedded"), Step("13:36", "comment", "ravi-embedded", "Done, three lines now."), Step("15:01", "merge", "keiko-amano")), "lumen-kernels"),
    Pull("11:45", "b0tanik", "wip", "WIP dont merge", "want to see if CI passes",
         (Step("12:05", "comment", MAREK, "You can open it as a draft for that. Should we look at something?"),
          Step("12:32", "comment", "b0tanik", "ok sorry didnt know, closing"), Step("12:33", "close", "b0tanik"))),
    Pull("12:04", "priya-raghunath", "yarn-scaling", "Support YaRN scaling factors from the config", "Reads rope_scaling.type == yarn. Perplexity table below.",
         (Step("14:10", "review", TOBI, "beta_fast and beta_slow are swapped in the fallback."), Step("14:24", "push", "priya-raghunath"),
          Step("14:25", "comment", "priya-raghunath", "Good eye. Fixed, with a test that fails on the old order."), Step("15:30", "approve", TOBI), Step("15:31", "merge", TOBI))),
    Pull("12:16", "paddy-oconnell", "gguf-metadata", "Read general.name from GGUF metadata", "So that /v1/models shows a name and not the file's path.",
         (Step("13:20", "comment", SUNNIVA, "What if the key is missing?"), Step("13:44", "comment", "paddy-oconnell", "Then the file name, as before."), Step("16:20", "approve", MAREK), Step("16:21", "merge", MAREK))),
    Pull("12:38", "rsanchez-hpc", "mpi-rank-env", "Read the rank from PMIX_RANK as well", "Slurm with PMIx sets no OMPI_COMM_WORLD_RANK.",
         (Step("15:20", "approve", MAREK), Step("15:21", "merge", MAREK))),
    Pull("13:04", "lin-zhaohui", "fix-sampler-seed", "Make the sampler's seed per request", "同一批次内的请求共用一个随机种子 / requests of one batch shared one seed. Test added.",
         (Step("14:40", "comment", TOBI, "Good catch. Does it change outputs for temperature 0?"), Step("14:52", "comment", "lin-zhaohui", "No, greedy does not use the seed. I added a check for it."),
          Step("16:32", "approve", TOBI), Step("16:33", "merge", TOBI))),
    Pull("13:09", "hanna-wikstrom", "metrics-docs", "Docs: table of all metrics", "Generated from the code, so that it cannot go stale.",
         (Step("14:15", "approve", SUNNIVA), Step("16:10", "merge", ADMIN))),
    Pull("13:31", "claude-moreau", "tokenizer-bench", "Bench: tokenizer under load", "The script behind the numbers of this morning's PR.",
         (Step("15:05", "comment", MAREK, "Could it print percentiles?"), Step("15:22", "push", "claude-moreau"), Step("15:22", "comment", "claude-moreau", "It does now."))),
    Pull("14:08", "dmitri-volkhov", "fp8-tolerances", "Looser tolerance for e5m2 accumulate", "Two mantissa bits cannot hold 1e-3. Derivation in the test's docstring.",
         (Step("15:18", "review", "keiko-amano", "I would rather see the bound scale with K."), Step("16:41", "push", "dmitri-volkhov"), Step("16:42", "comment", "dmitri-volkhov", "It scales with sqrt(K) now.")), "lumen-kernels"),
    Pull("14:37", "sofia-kreml", "patch-3", "fix link", "the discord link is dead, this one works", (Step("15:10", "merge", SUNNIVA),)),
    Pull("15:15", MAREK, "ci-cache", "CI: cache the compiler output", "Cuts the CUDA job from 31 to 9 minutes.",
         (Step("15:55", "approve", TOBI), Step("15:56", "merge", MAREK))),
    Pull("15:47", "mina-tavakoli", "quant-cli", "CLI: quantize without loading the model on a GPU", "Runs on a laptop now, 6 GB of memory for the 13b.",
         (Step("17:02", "comment", TOBI, "Would you split the progress bar out?"), Step("17:40", "comment", "mina-tavakoli", "Sure, tomorrow."))),
    Pull("16:26", "amara-nwosu", "patch-2", "fix another typo", "found one more while reading :)", (Step("16:50", "approve", SUNNIVA), Step("17:05", "merge", ADMIN))),
    Pull("17:33", "leo-baptista", "claude/retry-after", "Send Retry-After when the queue is full",
         "Clients retried at once and made it worse.\n\nAssisted-by: Claude Code", (Step("18:20", "comment", SUNNIVA, "In seconds or as a date?"), Step("18:41", "comment", "leo-baptista", "Seconds, rounded up. Dates break with skewed clocks."))),
    Pull("18:52", "wiktor-zed", "cuda-visible", "respect empty CUDA_VISIBLE_DEVICES", "empty string should mean cpu only", (Step("20:14", "comment", "keiko-amano", "Agreed. A test, please?"), Step("21:03", "push", "wiktor-zed"))),
    Pull("21:18", "keiko-amano", "attention-sinks", "Attention sinks in the paged kernel", "For the models that need them. Off by default.", (), "lumen-kernels"),
    Pull("22:46", "rsanchez-hpc", "ucx-hint", "Say which transport was chosen at start-up", "One line in the log, saves an hour of guessing.", ()),
)

# Opened before the App was installed; somebody pushed to it on the day.
OLD_PULL = Pull("09:27", "dmitri-volkhov", "speculative-tree", "Speculative decoding with a token tree", "Long-running branch, rebased weekly.")

FLOOD_TITLE = "Improve error handling in {file}"
FLOOD_BODY = (
    "## Summary\n\nThis pull request improves the error handling in `{file}` in order to enhance robustness and "
    "maintainability.\n\n## Changes\n\n- Added comprehensive error handling\n- Improved code quality\n\n"
    "## Testing\n\nAll existing tests pass."
)
FLOOD_FILES = tuple(
    f"lumen/{folder}/{name}.py"
    for folder, names in {
        "engine": "scheduler batching admission sequence sampler worker executor cache_manager swap",
        "models": "llama mistral qwen gemma phi falcon mixtral loader registry weights",
        "server": "api protocol streaming auth health metrics middleware sessions",
        "quant": "awq gptq int8 fp8 calibrate scales",
        "utils": "logging config paths network timing devices env versions memory threads",
    }.items()
    for name in names.split()
)
# Two reviewers ask on two of them; nobody answers.
FLOOD_COMMENTS = (
    Step("13:19", "comment", MAREK, "Which error did you run into here? The except clause hides the one that we rely on."),
    Step("13:26", "comment", "hanna-wikstrom", "This catches CancelledError, so that aborts would hang. Did you run it?"),
)
