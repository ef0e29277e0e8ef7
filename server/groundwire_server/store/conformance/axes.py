"""On which axes there are figures, as relations are made of it."""

from __future__ import annotations

from groundwire_server.evidence import Dimension, Label, ReviewStatus
from groundwire_server.store.conformance.check import Places, same
from groundwire_server.store.conformance.samples import TickingClock, make_fact
from groundwire_server.store.rows import FactAxes

__all__ = ["CHECKS"]


def axes_of_figures_are_told(places: Places) -> None:
    """Each combination of axes once with the least label of its figures, of a source, an entity or both.

    What is PENDING does not count, nor what is withdrawn; what the transaction itself has put does.
    """
    store = places()(TickingClock())
    cloud = (Dimension("segment", "CLOUD"),)
    with store.writer() as writer:
        writer.put_facts(
            [
                make_fact(source_doc="a", entity="X", metric="COGS", label=Label.CONFIDENTIAL),
                make_fact(source_doc="a", entity="X", metric="COGS", value="7", locator="2"),
                make_fact(source_doc="a", entity="X", metric="COGS", dimensions=cloud, label=Label.RESTRICTED),
                make_fact(source_doc="a", entity="X", metric="EBIT", review_status=ReviewStatus.PENDING),
                make_fact(source_doc="b", entity="X", metric="COGS", channel="ONLINE"),
                make_fact(source_doc="a", entity="Y", metric="COGS"),
            ]
        )
        channel = make_fact().channel
        whole = FactAxes("a", "X", "COGS", channel, (), Label.INTERNAL)
        part = FactAxes("a", "X", "COGS", channel, cloud, Label.RESTRICTED)
        other = FactAxes("a", "Y", "COGS", channel, (), Label.INTERNAL)
        online = FactAxes("b", "X", "COGS", "ONLINE", (), Label.INTERNAL)
        same(set(writer.fact_axes(source_doc="a")), {whole, part, other}, "of a source")
        same(set(writer.fact_axes(entity="X")), {whole, part, online}, "of an entity")
        same(writer.fact_axes(source_doc="b", entity="X"), [online], "of both")
        same(set(writer.fact_axes()), {whole, part, other, online}, "of all")
    with store.writer() as writer:
        writer.withdraw_document("a")
        same(writer.fact_axes(), [online], "after a withdrawal")
    store.close()


CHECKS = (axes_of_figures_are_told,)
