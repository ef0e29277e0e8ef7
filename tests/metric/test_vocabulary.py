"""Names of the glossary, and codes of stored figures that no term has."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from groundwire_server.evidence import Dimension, Label, MetricNotFound, MetricQuery, Principal, ReviewStatus
from groundwire_server.glossary import EntityTerm, Glossary, MemberTerm, MetricTerm, Resolved, Synonym, TermRef, Unknown
from groundwire_server.metric import vocabulary_of
from tests.metric.world import READER, ask, figure, open_library

GLOSSARY = Glossary(
    [MetricTerm("GDP", synonyms=(Synonym("gross domestic product"), Synonym("output"))), EntityTerm("JPN", "Japan")]
)
FACTS = [
    figure("GDP", "JPN", "2020", "1", channel="Online Stores"),
    figure("GDP (constant prices)", "Free Town", "2020", "1"),
    figure("outputs", "JPN", "2020", "1"),
    figure("output", "JPN", "2020", "1"),
    figure("Secret", "Secret Town", "2020", "1", channel="Secret way", label=Label.CONFIDENTIAL),
    figure("Draft", "JPN", "2020", "1", review_status=ReviewStatus.PENDING),
]


def test_the_glossary_comes_first_and_the_store_behind_it(tmp_path: Path) -> None:
    library = open_library(tmp_path, GLOSSARY, [FACTS])
    vocabulary = vocabulary_of(library.snapshot(), READER)
    names = {
        "output": "GDP",  # a term's name, though figures carry it as a code
        "GDP (constant prices)": "GDP (constant prices)",  # the very name of a code, before a note is left out
        "GDP (current prices)": "GDP",
        "outputs": "GDP",  # stored before the term had that name
        "Gross Domestic Products": "GDP",
    }
    assert {raw: vocabulary.resolve_metric(raw) for raw in names} == {
        raw: Resolved(code) for raw, code in names.items()
    }
    assert vocabulary.resolve_entity("free  town") == Resolved("Free Town")
    assert vocabulary.resolve_channel("online store") == Resolved("Online Stores")
    assert vocabulary.resolve_channel("") == Resolved("TOTAL")
    library.close()


@pytest.mark.parametrize("name", ["Secret", "Draft"])
def test_what_the_caller_may_not_see_is_no_name(tmp_path: Path, name: str) -> None:
    library = open_library(tmp_path, GLOSSARY, [FACTS])
    vocabulary = vocabulary_of(library.snapshot(), READER)
    found = vocabulary.resolve_metric(name)
    assert isinstance(found, Unknown)
    assert name not in found.suggestions
    assert all(
        name not in mention.text for mention in vocabulary.find_terms(f"the {name} of Secret Town by Secret way")
    )
    cleared = vocabulary_of(library.snapshot(), Principal("c", Label.CONFIDENTIAL))
    assert cleared.resolve_metric("Secret") == Resolved("Secret")
    library.close()


def test_codes_of_figures_are_found_in_sentences(tmp_path: Path) -> None:
    library = open_library(tmp_path, GLOSSARY, [FACTS])
    found = vocabulary_of(library.snapshot(), READER).find_terms("gross domestic product of Japan in online stores")
    assert [mention.terms for mention in found] == [
        (TermRef("metric", "GDP"),),
        (TermRef("entity", "JPN"),),
        (TermRef("channel", "Online Stores"),),
    ]
    library.close()


def test_a_vocabulary_is_kept_as_long_as_its_state(tmp_path: Path) -> None:
    library = open_library(tmp_path, GLOSSARY, [FACTS])
    state = weakref.ref(library.snapshot())
    first = vocabulary_of(library.snapshot(), READER)
    assert vocabulary_of(library.snapshot(), READER) is first
    with library.writing() as writer:
        writer.put_facts([figure("Novel", "JPN", "2020", "1")])
    assert vocabulary_of(library.snapshot(), READER).resolve_metric("novel") == Resolved("Novel")
    assert isinstance(first.resolve_metric("novel"), Unknown)
    gc.collect()
    assert state() is None
    library.close()


def test_members_are_known_in_the_whole_library(tmp_path: Path) -> None:
    """Those that any figure carries that the caller may see, whatever its metric."""
    glossary = Glossary([*GLOSSARY.terms, MemberTerm("segment", "CLOUD", synonyms=(Synonym("クラウド", "ja"),))])
    shown, hidden = (Dimension("floor", "Top Floor"),), (Dimension("floor", "Secret Floor"),)
    facts = [
        figure("GDP", "JPN", "2020", "1", dimensions=shown),
        figure("GDP", "JPN", "2020", "1", dimensions=hidden, label=Label.CONFIDENTIAL),
    ]
    library = open_library(tmp_path, glossary, [facts])
    vocabulary = vocabulary_of(library.snapshot(), READER)
    assert vocabulary.resolve_member("floor", "top floors") == Resolved("Top Floor")
    assert vocabulary.resolve_member("segment", "クラウド") == Resolved("CLOUD")
    assert vocabulary.resolve_member("floor", "Secret Floor") == Unknown(("Top Floor",))
    assert vocabulary.resolve_member("roof", "Top Floor") == Unknown()
    answer = ask(library, MetricQuery("GDP", "JPN", "2019", dimensions=shown))
    assert isinstance(answer.outcomes[0].outcome, MetricNotFound)
    library.close()
