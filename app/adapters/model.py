"""The one door to the trained models: plain JSON behind a manifest with hashes. Nothing is executed."""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import app
from app.core.accountmodel import AccountModel
from app.core.errors import UserError
from app.core.fused import FusedScorer
from app.core.shape import SHAPE_VERSION
from app.core.textmodel import TextModel
from app.core.unattended import UnattendedModel

MANIFEST_FORMAT = 1
FILES = ("text.json", "account.json", "unattended.json")
_MOST_BYTES = 5_000_000
_TRAIN_AGAIN = "train anew with `pulsegate train`, or install Pulsegate again"


class Models(NamedTuple):
    """All parts of the score, and the manifest that they came with."""

    text: TextModel
    account: AccountModel
    unattended: UnattendedModel
    manifest: dict[str, Any]

    @property
    def version(self) -> str:
        """What the score is signed with: changes with any part."""
        return str(self.manifest["version"])

    def scorer(self) -> FusedScorer:
        """The score of these models."""
        return FusedScorer(self.text, self.account, self.unattended, self.version)


def shipped() -> Path:
    """The folder of the models that came with this Pulsegate: of the checkout or of the wheel."""
    package = Path(app.__file__).parent
    checkout = package.parent / "models"
    return checkout if (checkout / "manifest.json").exists() else package / "_models"


def load(folder: Path | None = None) -> Models:
    """The models. `UserError` where a file is missing, changed, or of another version."""
    folder = folder or shipped()
    manifest = _manifest(folder)
    data = {name: _file(folder, name, manifest) for name in FILES}
    try:
        return Models(
            text=TextModel(data["text.json"]),
            account=AccountModel(data["account.json"]),
            unattended=UnattendedModel.from_json(data["unattended.json"]),
            manifest=manifest,
        )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"the models in {folder} do not fit: {error}", hint=_TRAIN_AGAIN) from error


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / "manifest.json"
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}", hint=_TRAIN_AGAIN) from error
    if not isinstance(manifest, dict) or manifest.get("format") != MANIFEST_FORMAT:
        raise UserError(f"{file} is of another format", hint=_TRAIN_AGAIN)
    if manifest.get("shape_version") != SHAPE_VERSION:
        raise UserError(
            f"the models in {folder} read features of version {manifest.get('shape_version')}, "
            f"this Pulsegate makes version {SHAPE_VERSION}",
            hint=_TRAIN_AGAIN,
        )
    return manifest


def _file(folder: Path, name: str, manifest: dict[str, Any]) -> dict[str, Any]:
    wanted = manifest.get("files", {}).get(name, {}).get("sha256")
    file = folder / name
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise UserError(f"{file} is larger than any model of ours", hint=_TRAIN_AGAIN)
        raw = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error}", hint=_TRAIN_AGAIN) from error
    if hashlib.sha256(raw).hexdigest() != wanted:
        raise UserError(f"{file} is not what the manifest names", hint=_TRAIN_AGAIN)
    try:
        data = json.loads(raw)
    except ValueError as error:
        raise UserError(f"{file} is no JSON: {error}", hint=_TRAIN_AGAIN) from error
    if not isinstance(data, dict):
        raise UserError(f"{file} is no model", hint=_TRAIN_AGAIN)
    return data
