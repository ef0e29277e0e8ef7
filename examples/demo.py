"""What `make demo` runs: prepare the model, ingest `countries/`, serve, and ask six questions over gRPC.

Everything lies in `.demo/`; the server is a thread of this process, so that nothing is left behind however it ends.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

# Until main() can say "stopped" itself, Ctrl-C just ends it, without a traceback out of some import.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from groundwire import (
    AnswerOrigin,
    Client,
    EndReason,
    GraphEdge,
    GroundwireError,
    MetricFact,
    MetricNotFound,
    MetricOutcome,
    MetricQuery,
    Retrieval,
    Route,
    Stream,
    TextPassage,
    UnrecognizedParam,
)
from groundwire_server.cli.ending import BROKEN_PIPE
from groundwire_server.cli.interrupt import INTERRUPTED, handle_signals, leave_at_once
from groundwire_server.cli.output import describe
from groundwire_server.cli.streams import let_go_of_output, printable
from groundwire_server.errors import GroundwireError as ServerError

HERE = Path(__file__).resolve().parent
COUNTRIES = HERE / "countries"
PAINTER = "Which painter made The Scream?"
PAINTER_PAGE = "ja/エドヴァルド・ムンク.md"
WHY = "Why did Nicaragua take the United States to the International Court of Justice?"


@dataclass(frozen=True)
class Question:
    """A question, how it is asked, and whether what came back is what the example's sources say."""

    what: str
    words: str
    ask: Callable[[Client], Stream[Any]]
    holds: Callable[[Any], bool]


def figure_of(answer: Any, value: str) -> bool:
    """Exactly this figure stands in the answer, and the sentence that says it cites it."""
    facts = [each for each in answer.snippets if isinstance(each.payload, MetricFact)]
    said = [part for part in answer.parts if part.origin is AnswerOrigin.FACTS]
    return (
        [fact.payload.amount for fact in facts] == [Decimal(value)]
        and len(said) == 1
        and said[0].cited_snippet_ids == (facts[0].snippet_id,)
    )


def quotes(answer: Any, doc_id: str) -> bool:
    """A verbatim sentence of this document stands in the answer."""
    passages = {each.snippet_id: each for each in answer.snippets if isinstance(each.payload, TextPassage)}
    quoted = [part for part in answer.parts if part.origin is AnswerOrigin.QUOTATION]
    cited = {passages[name].lineage.doc_id for part in quoted for name in part.cited_snippet_ids}
    return doc_id in cited


def only(outcomes: tuple[MetricOutcome, ...]) -> Any:
    """The one outcome, or None when there are more or fewer."""
    return outcomes[0].outcome if len(outcomes) == 1 else None


QUESTIONS = [
    Question(
        "a figure",
        "What was the population of India in 2020?",
        lambda client: client.ask("What was the population of India in 2020?"),
        lambda answer: answer.route.route is Route.STRUCTURED and figure_of(answer, "1402617695"),
    ),
    Question(
        "a why",
        WHY,
        lambda client: client.ask(WHY),
        lambda answer: answer.route.route is Route.NARRATIVE and quotes(answer, "ja/ニカラグア事件.md"),
    ),
    Question(
        "a composite",
        "インドネシアの2019年のGDPはいくつで、プランバナン寺院群はなぜ放棄されたのですか？",
        lambda client: client.ask("インドネシアの2019年のGDPはいくつで、プランバナン寺院群はなぜ放棄されたのですか？"),
        lambda answer: (
            answer.route.route is Route.COMPOSITE
            and figure_of(answer, "1119099871350.1992")
            and quotes(answer, "ja/プランバナン寺院群.md")
        ),
    ),
    Question(
        "one that must be refused",
        "1871年印度的人口是多少？",
        lambda client: client.ask("1871年印度的人口是多少？"),
        lambda answer: (
            isinstance(only(answer.outcomes), MetricNotFound)
            and answer.summary.end_reason is EndReason.REFUSED
            and not answer.snippets
        ),
    ),
    Question(
        "an unknown name",
        "QueryMetric: population of Indonesa in 2020",
        lambda client: client.query_metric(MetricQuery("population", "Indonesa", "2020")),
        lambda figures: (
            isinstance(only(figures.outcomes), UnrecognizedParam)
            and only(figures.outcomes).suggestions[0] == "Indonesia"
            and not figures.snippets
        ),
    ),
    Question(
        "a relation",
        "GraphTrace: what is around India, two hops",
        lambda client: client.neighborhood(["India"], direction="IN", max_hops=2),
        lambda trace: (
            [(each.payload.source.label, each.payload.target.label) for each in trace.snippets]
            == [("Southern Asia", "India"), ("Asia", "Southern Asia")]
            and all(isinstance(each.payload, GraphEdge) and each.lineage.source_locator for each in trace.snippets)
        ),
    ),
]


def main() -> int:
    """Exit code 0 when all is as it should be."""
    arguments = argparse.ArgumentParser(prog="make demo", description=__doc__)
    arguments.add_argument("--lexical", action="store_true", help="without an embedding model: BM25 only")
    arguments.add_argument("--folder", type=Path, default=HERE.parent / ".demo", help="where everything goes")
    given = arguments.parse_args()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        return run(given.folder, lexical=given.lexical)
    except KeyboardInterrupt:
        say("\nstopped")
        return INTERRUPTED
    except BrokenPipeError:
        let_go_of_output()  # `| head`
        return BROKEN_PIPE
    except (GroundwireError, ServerError) as error:
        say(f"\nThe demo failed: {error}")
        return 1


def run(folder: Path, *, lexical: bool) -> int:
    """The demo, from the model to the last check."""
    from groundwire_server.rpc import running
    from groundwire_server.settings import load_settings

    began = time.monotonic()
    if not lexical and not prepare_model(folder):
        return 1
    settings = load_settings(
        {
            "data": folder / "data",
            "models": folder / "models",
            "server.port": 0,
            "log.level": "error",
            "embedding.backend": "none" if lexical else "onnx",
        },
        environ={},
    )
    with running(settings) as server, Client(server.address, timeout=60) as client:
        server.engine.wait_for_embedder()
        say(f"\nA server answers at {server.address}.")
        if not ingest(client):
            return 1
        checks = [check(client, number, question) for number, question in enumerate(QUESTIONS, start=1)]
        if not lexical:
            checks.append(check_hybrid(client))
    good = sum(checks)
    say(f"\n{good} of {len(checks)} as they should be, {time.monotonic() - began:.0f} s")
    if lexical:
        say("(without an embedding model: lexical search only)")
    return 0 if all(checks) else 1


def prepare_model(folder: Path) -> bool:
    """The embedding model, downloaded and checked on the first run. False, with a way on, when that fails."""
    from groundwire_server.cli.models import StepLines
    from groundwire_server.dense.models import DEFAULT_MODEL, prepare

    say(f"Preparing the embedding model {DEFAULT_MODEL}.")
    try:
        model = prepare(DEFAULT_MODEL, StepLines(), folder=folder / "models")
    except ServerError as error:
        say(f"\nThe model could not be prepared: {error}")
        say("Try again with `make demo`: what was downloaded is kept. Or go on without it: `make demo LEXICAL=1`.")
        return False
    say(f"It is ready: sha256 {model.version}")
    return True


def ingest(client: Client) -> bool:
    """Documents, glossary, figures and relations of the example, all of them; a second run changes nothing."""
    from groundwire import DocumentUpload, FactFile
    from groundwire_server.cli.embeddings import await_embeddings
    from groundwire_server.cli.terms import read_terms

    root = COUNTRIES / "cc-by-sa"
    pages = (DocumentUpload.from_file(path, root=root) for path in sorted(root.glob("*/*.md")))
    documents = client.ingest_documents(pages).collect().summary
    client.update_glossary(read_terms(COUNTRIES / "glossary.toml"), replace_all=True)
    names = (COUNTRIES / "relations" / "relations.toml").read_text(encoding="utf-8")
    files = [
        FactFile.from_file(COUNTRIES / "facts" / "facts.jsonl"),
        FactFile.from_file(COUNTRIES / "relations" / "regions.jsonl", form="relations_jsonl", mapping_toml=names),
    ]
    rows = client.ingest_facts(files).collect().summary
    say(
        f"Ingested: {documents.stored} documents ({documents.unchanged} unchanged), "
        f"{rows.stored} figures and relations ({rows.unchanged} unchanged)."
    )
    if documents.failed or rows.failed:
        say(f"{documents.failed} documents and {rows.failed} rows were refused: NOT as it should be")
        return False
    return await_embeddings(client, "default")


def check(client: Client, number: int, question: Question) -> bool:
    """Ask, print the frames as they come, and say whether the outcome is right."""
    say(f"\n{number}. {question.what}: {question.words}")
    ranks: dict[str, int] = {}
    with question.ask(client) as stream:
        for frame in stream:
            for line in describe(frame, ranks):
                say(f"   {printable(line)}")
        good = bool(question.holds(stream.collect()))
    say("   ✓ as it should be" if good else "   ✗ NOT as it should be")
    return good


def check_hybrid(client: Client) -> bool:
    """Hybrid search is on: the plan names the model, every chunk has a vector, and it finds what words cannot."""
    hybrid: Retrieval = client.retrieve(PAINTER, mode="HYBRID").collect()
    lexical: Retrieval = client.retrieve(PAINTER, mode="LEXICAL", top_k=200).collect()
    by_words = {snippet.snippet_id for snippet in lexical.snippets}
    new = [
        snippet
        for snippet in hybrid.snippets
        if snippet.snippet_id not in by_words and snippet.lineage.doc_id == PAINTER_PAGE
    ]
    dense = next((step for step in hybrid.header.plan if step.stage == "dense"), None)
    say(f"\n7. hybrid search is on: {PAINTER}")
    if dense is not None:
        say(f"   plan: {dense.backend}, coverage {dense.coverage}")
    for snippet in new[:1]:
        say(f"   rank {snippet.rank}, a page in Japanese that is not among the {len(by_words)} hits of words alone:")
        text = snippet.payload.text if isinstance(snippet.payload, TextPassage) else ""
        say(f"   {snippet.lineage.source_locator}: {text[:60]}…")
    good = dense is not None and dense.coverage == 1.0 and bool(new)
    say("   ✓ as it should be" if good else "   ✗ NOT as it should be")
    return good


def say(line: str) -> None:
    """Print at once, also into a pipe."""
    print(line, flush=True)


if __name__ == "__main__":
    handle_signals()
    try:
        code = main()
    except KeyboardInterrupt:  # again, while the first one was cleaning up
        code = INTERRUPTED
    if code == INTERRUPTED:
        leave_at_once(code)
    sys.exit(code)
