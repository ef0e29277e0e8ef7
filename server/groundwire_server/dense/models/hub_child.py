"""The child process of `hub_source`: fastembed downloads a model into a cache folder and does not load it."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str]) -> None:
    """Arguments: name, repository, model file, dimension, cache folder."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # as in onnx_embedder
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name, repository, model_file, dim, cache = arguments
    TextEmbedding.add_custom_model(
        model=f"groundwire/{name}",
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=repository),
        dim=int(dim),
        model_file=model_file,
    )
    TextEmbedding(f"groundwire/{name}", cache_dir=cache, lazy_load=True)


if __name__ == "__main__":
    main(sys.argv[1:])
