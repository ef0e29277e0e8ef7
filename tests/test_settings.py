from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.chunking import CHUNKERS
from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.query import TRANSFORMS
from groundwire_server.settings import Settings, load_settings, setting_names

NOTHING: dict[str, str] = {}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def faults(**kwargs: object) -> dict[str, tuple[ErrorReason, str]]:
    with pytest.raises(InvalidRequest) as caught:
        load_settings(**kwargs)  # type: ignore[arg-type]
    return {violation.field: (violation.reason, violation.description) for violation in caught.value.violations}


def test_defaults_need_nothing() -> None:
    settings = load_settings(environ=NOTHING)
    assert settings.server.address == "127.0.0.1:50051"
    assert settings.retrieval.mode == settings.embedding.backend == "auto"
    assert {value.origin for value in settings.in_force()} == {"default"}


def test_every_setting_is_described_and_listed() -> None:
    assert [value.name for value in load_settings(environ=NOTHING).in_force()] == setting_names()


def test_an_argument_goes_before_the_environment_before_the_alias_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('[retrieval]\nmode = "vector"\n[server]\nport = 1\nthreads = 3\n')
    layers: dict[str, str] = {}
    assert load_settings(config=file, environ=layers).retrieval.mode == "vector"
    layers["RAGSPINE_RETRIEVAL_MODE"] = "BM25"
    assert load_settings(config=file, environ=layers).retrieval.mode == "lexical"
    layers["GROUNDWIRE_SERVER_PORT"] = "2"
    assert load_settings(config=file, environ=layers).server.port == 2
    settings = load_settings({"server.port": 3, "server.host": None}, config=file, environ=layers)
    assert settings.server.port == 3
    assert {name: settings.origin(name) for name in ("server.port", "retrieval.mode", "server.threads", "data")} == {
        "server.port": "argument",
        "retrieval.mode": "environment",
        "server.threads": "file",
        "data": "default",
    }


def test_the_file_is_found_by_variable_and_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "groundwire.toml").write_text("[server]\nport = 7\n")
    assert load_settings(environ=NOTHING).server.port == 7
    other = tmp_path / "other.toml"
    other.write_text("[server]\nport = 8\n")
    assert load_settings(environ={"GROUNDWIRE_CONFIG": str(other)}).server.port == 8


def test_folders_in_a_file_stand_beside_it(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    file = tmp_path / "etc" / "my.toml"
    file.write_text('data = "store"\n')
    assert load_settings(config=file, environ=NOTHING).data == tmp_path / "etc" / "store"
    assert load_settings(environ={"GROUNDWIRE_DATA": "store"}).data == Path("store")


@pytest.mark.parametrize(
    ("content", "words"),
    [("[server\n", "line 1"), ("a = ", "no TOML"), (b"\xff\xfe", "no UTF-8")],
)
def test_a_broken_file_is_named_with_the_place(tmp_path: Path, content: str | bytes, words: str) -> None:
    file = tmp_path / "my.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = faults(config=file, environ=NOTHING)
    assert words in found["--config"][1]
    assert str(file) in found["--config"][1]


@pytest.mark.parametrize("value", ["", "a\0b"])
def test_a_folder_has_a_name(tmp_path: Path, value: str) -> None:
    file = tmp_path / "my.toml"
    file.write_text(f"data = {json.dumps(value)}\n")
    assert "the path of a folder" in faults(config=file, environ=NOTHING)[f"{file}: data"][1]
    if not value:
        assert "the path of a folder" in faults(environ={"GROUNDWIRE_MODELS": value})["GROUNDWIRE_MODELS"][1]


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    assert "cannot be read" in faults(config=tmp_path / "none.toml", environ=NOTHING)["--config"][1]


def test_an_unknown_name_is_refused_everywhere_with_the_valid_ones(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text("[server]\nprot = 1\n[servr]\nport = 2\n")
    found = faults(arguments={"server.prt": 1}, config=file, environ={"GROUNDWIRE_SERVER_PROT": "1", "PATH": "/bin"})
    assert set(found) == {"server.prt", "GROUNDWIRE_SERVER_PROT", f"{file}: server.prot", f"{file}: servr.port"}
    assert "did you mean" in found["server.prt"][1]
    assert "server.port" in found["server.prt"][1]
    assert "GROUNDWIRE_SERVER_PORT" in found["GROUNDWIRE_SERVER_PROT"][1]


def test_wrong_values_are_all_named_with_what_is_valid() -> None:
    found = faults(
        environ={
            "GROUNDWIRE_SERVER_PORT": "70000",
            "GROUNDWIRE_SERVER_THREADS": "many",
            "GROUNDWIRE_LOG_LEVEL": "loud",
            "GROUNDWIRE_ACCESS_LOCAL_CLEARANCE": "restricted",
        }
    )
    assert found["GROUNDWIRE_SERVER_PORT"] == (ErrorReason.VALUE_OUT_OF_RANGE, "'70000' must be at most 65535")
    assert found["GROUNDWIRE_SERVER_THREADS"] == (ErrorReason.VALUE_MALFORMED, "'many' is not a whole number")
    assert found["GROUNDWIRE_LOG_LEVEL"][1] == "'loud' is none of debug, error, info, warning"
    assert found["GROUNDWIRE_ACCESS_LOCAL_CLEARANCE"][1].endswith("confidential, internal, public")


@pytest.mark.parametrize(
    ("variable", "value", "setting", "want"),
    [
        ("RAGSPINE_RETRIEVAL_MODE", "economy", "retrieval.mode", "lexical"),
        ("RAGSPINE_RETRIEVAL_MODE", "bm25", "retrieval.mode", "lexical"),
        ("RAGSPINE_RETRIEVAL_MODE", "hybrid", "retrieval.mode", "hybrid"),
        ("RAGSPINE_EMBEDDING", "minilm", "embedding.backend", "onnx"),
        ("RAGSPINE_EMBEDDING", "fastembed", "embedding.backend", "onnx"),
        ("RAGSPINE_EMBEDDING_BACKEND", "ONNX", "embedding.backend", "onnx"),
        ("RAGSPINE_EMBEDDING_BACKEND", "none", "embedding.backend", "none"),
        ("RAGSPINE_CHUNKER", "whole", "ingest.chunker", "whole"),
        ("RAGSPINE_CHUNKER", "Small_to_big", "ingest.chunker", "parent_child"),
        ("RAGSPINE_CHUNKER", "", "ingest.chunker", "paragraph"),
        *(("RAGSPINE_CHUNKER", name, "ingest.chunker", name) for name in CHUNKERS),
        ("RAGSPINE_CONTEXTUAL", "1", "ingest.contextual", "true"),
        ("RAGSPINE_CONTEXTUAL", "none", "ingest.contextual", "false"),
        ("RAGSPINE_CONTEXTUAL", "", "ingest.contextual", "false"),
        ("RAGSPINE_RELATION_EXTRACTOR", "Co_Occurrence", "ingest.relation_extractor", "co_occurrence"),
        *(("RAGSPINE_QUERY_TRANSFORM", name, "retrieval.query_transform", name) for name in TRANSFORMS),
        ("RAGSPINE_QUERY_TRANSFORM", "Step-Back", "retrieval.query_transform", "step_back"),
        ("RAGSPINE_QUERY_TRANSFORM", "off", "retrieval.query_transform", "none"),
        ("RAGSPINE_QUERY_DECOMPOSE", "llm", "retrieval.decomposition", "llm"),
        ("RAGSPINE_QUERY_DECOMPOSE", "Rules", "retrieval.decomposition", "rules"),
        ("RAGSPINE_QUERY_DECOMPOSE", "", "retrieval.decomposition", "none"),
        ("RAGSPINE_ADAPTIVE", "1", "retrieval.adaptive", "rules"),
        ("RAGSPINE_ADAPTIVE", "LLM", "retrieval.adaptive", "llm"),
        ("RAGSPINE_ADAPTIVE", "off", "retrieval.adaptive", "none"),
        ("RAGSPINE_CORRECTIVE", "True", "retrieval.corrective", "words"),
        ("RAGSPINE_CORRECTIVE", "llm", "retrieval.corrective", "llm"),
        ("RAGSPINE_CORRECTIVE", "0", "retrieval.corrective", "none"),
        ("GROUNDWIRE_RETRIEVAL_FILTER_EXTRACTOR", "Glossary", "retrieval.filter_extractor", "glossary"),
        ("GROUNDWIRE_RETRIEVAL_ROUTE_CLASSIFIER", "llm", "retrieval.route_classifier", "llm"),
        ("RAGSPINE_RELATION_EXTRACTOR", "", "ingest.relation_extractor", "none"),
    ],
)
def test_the_names_of_the_seeds_are_read(variable: str, value: str, setting: str, want: str) -> None:
    settings = load_settings(environ={variable: value})
    assert {item.name: item.value for item in settings.in_force()}[setting] == want
    assert settings.origin(setting) == "environment"


UNBUILT = [
    ("RAGSPINE_RERANKER", "cross_encoder"),
    ("RAGSPINE_POSTPROCESSOR", "mmr,lost_in_middle"),
    ("RAGSPINE_RAPTOR", "1"),
    ("RAGSPINE_RAPTOR_THRESHOLD", "0.8"),
    ("RAGSPINE_GRAPH_STORE", "networkx"),
    ("RAGSPINE_VISUAL_EMBEDDER", "colpali"),
    ("ASK_RAPTOR", "1"),
    ("RAGSPINE_EMBEDDING", "qwen3"),
]


@pytest.mark.parametrize(("variable", "value"), UNBUILT)
def test_a_switch_without_effect_is_an_error(variable: str, value: str) -> None:
    reason, text = faults(environ={variable: value})[variable]
    assert reason is ErrorReason.NOT_IMPLEMENTED
    assert "not available yet" in text


@pytest.mark.parametrize("variable", sorted({name for name, _ in UNBUILT}))
def test_an_empty_switch_is_off(variable: str) -> None:
    assert load_settings(environ={variable: ""}).model_dump() == load_settings(environ=NOTHING).model_dump()


def test_an_alias_and_its_new_name_must_agree() -> None:
    load_settings(environ={"RAGSPINE_EMBEDDING": "minilm", "GROUNDWIRE_EMBEDDING_BACKEND": "onnx"})
    found = faults(environ={"RAGSPINE_EMBEDDING": "minilm", "GROUNDWIRE_EMBEDDING_BACKEND": "none"})
    assert found["RAGSPINE_EMBEDDING"][0] is ErrorReason.CONTRADICTION
    assert "GROUNDWIRE_EMBEDDING_BACKEND" in found["RAGSPINE_EMBEDDING"][1]
    assert faults(environ={"RAGSPINE_EMBEDDING": "onnx", "RAGSPINE_EMBEDDING_BACKEND": "none"})


def test_a_secret_is_never_shown() -> None:
    settings = load_settings({"secret": "correct horse"}, environ=NOTHING)
    assert {item.name: item.value for item in settings.in_force()}["secret"] == "***"
    assert "horse" not in repr(settings)
    assert "horse" not in str(faults(arguments={"secret": ["correct horse"]}, environ=NOTHING))


def test_outside_names_are_written_with_commas_in_the_environment() -> None:
    settings = load_settings(environ={"GROUNDWIRE_GATE_OUTSIDE_NAMES": "Acme, 株式会社 外,,"})
    assert settings.gate.outside_names == ("Acme", "株式会社 外")


def test_an_ipv6_host_has_brackets() -> None:
    assert load_settings({"server.host": "::1", "server.port": 1}, environ=NOTHING).server.address == "[::1]:1"


def test_the_address_of_the_clients_is_no_setting_of_the_server() -> None:
    assert load_settings(environ={"GROUNDWIRE_ADDRESS": "elsewhere:1"}).server.port == 50051


def test_the_bare_constructor_reads_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER", "nonsense")
    monkeypatch.setenv("DATA", "elsewhere")
    assert Settings().model_dump() == load_settings(environ=NOTHING).model_dump()


@given(st.dictionaries(st.sampled_from(setting_names()), st.text(max_size=20)))
def test_any_text_gives_settings_or_a_typed_error(values: dict[str, str]) -> None:
    environ = {f"GROUNDWIRE_{name.replace('.', '_').upper()}": value for name, value in values.items()}
    wrong: set[str] = set()
    try:
        settings = load_settings(environ=environ)
    except InvalidRequest as error:
        wrong = {violation.field for violation in error.violations}
    assert wrong <= set(environ)
    assert wrong or all(settings.origin(name) == "environment" for name in values)
