"""Models on the Hugging Face hub: a folder as `save` writes it, by a name such as "user/model"."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dissensus.encoders.framework.pretrained import hub_answers
from dissensus.errors import ModelError, cut

FILES = ("config.json", "model.safetensors", "README.md")  # nothing else is read
NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
LOGIN = "log in with `hf auth login`, or pass token="


def on_hub(path: str | Path) -> bool:
    """Whether this is a name on the hub: USER/MODEL, and no folder on this computer.

    Example:
        >>> on_hub("someone/moods"), on_hub("models/of/moods"), on_hub("moods")
        (True, False, False)
    """
    folder = Path(path)
    return NAME.fullmatch(str(path)) is not None and not folder.parent.exists()


def download(name: str, revision: str | None = None, token: str | None = None) -> Path:
    """The folder of a model of the hub, in the cache of Hugging Face."""
    from huggingface_hub import snapshot_download

    offline = not hub_answers()
    options: dict[str, Any] = {"revision": revision, "token": token, "local_files_only": offline}
    try:
        return Path(snapshot_download(name, allow_patterns=list(FILES), **options))
    except Exception as error:  # of the network, the hub or the token
        why = "the hub cannot be reached, and it is not in the cache" if offline else cut(error)
        raise ModelError(
            f"{name}: neither a folder nor a model of the Hugging Face hub that can be read "
            f"({why}); check the name, or {LOGIN}"
        ) from None


def upload(folder: Path, name: str, private: bool, message: str, token: str | None) -> str:
    """Copy a model folder to the hub; the address of the model."""
    from huggingface_hub import HfApi

    if not NAME.fullmatch(name):
        raise ModelError(f"a model of the hub has a name such as 'user/model', found {name!r}")
    if not hub_answers():
        raise ModelError(f"{name}: the Hugging Face hub cannot be reached; nothing was uploaded")
    api = HfApi(token=token)
    try:
        address = api.create_repo(name, private=private, exist_ok=True)
        api.upload_folder(repo_id=name, folder_path=folder, commit_message=message)
    except Exception as error:  # of the network, the hub or the token
        raise ModelError(f"{name}: the upload failed ({cut(error)}); {LOGIN}") from None
    return str(address)
