"""The one question about a change that is asked, or none where none makes sense."""

from collections.abc import Sequence

from app.core.proofs.diff import Patch
from app.core.proofs.probe import Kind, Probe, candidates

# The kinds that ask for what only a run shows come first; the wide ones only where nothing else is.
_TIERS: tuple[tuple[Kind, ...], ...] = (
    ("value", "condition", "caught", "empty"),
    ("dependency", "removed", "added"),
    ("file", "touched"),
)


def question(patches: Sequence[Patch], title: str, body: str, pick: int) -> Probe | None:
    """A question about this change; None where none fits. `pick` is random and chooses among those that do.

    What title or body already say is not asked. The same arguments give the same question.
    """
    said = f"{title}\n{body}".casefold()
    found: dict[Kind, Probe] = {}
    for probe in candidates(patches):
        if probe.kind not in found and not _is_answered(probe, said):
            found[probe.kind] = probe
    for tier in _TIERS:
        fits = [found[kind] for kind in tier if kind in found]
        if fits:
            return fits[pick % len(fits)]
    return None


def _is_answered(probe: Probe, said: str) -> bool:
    """Whether the description deals with it: it has the new value, or names the dependency."""
    if probe.kind in {"value", "dependency", "condition", "caught", "removed"}:
        return probe.names[0].casefold() in said
    return False
