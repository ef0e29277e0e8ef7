"""Libraries and their glossaries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from groundwire._model.glossary import GlossaryUpdate, Term, TermRef
from groundwire._model.library import Library, LibraryDeletion, LibraryUpdate
from groundwire._operation.kinds import Paged, Unary, method
from groundwire._wire.mirror import fill, rows_of, value_of
from groundwire.v1 import admin_pb2

__all__ = ["delete_library", "list_libraries", "save_library", "update_glossary"]

_TOLD: dict[str, Any] = {
    "snapshot_id": "",
    "documents": 0,
    "active_chunks": 0,
    "facts": 0,
    "relations": 0,
    "embedding_coverage": None,
    "fault": None,
}


def list_libraries() -> Paged[Library]:
    """AdminService.ListLibraries."""
    return Paged(method("AdminService/ListLibraries"), admin_pb2.ListLibrariesRequest(), rows_of("libraries", Library))


def save_library(library: Library, validate_only: bool, if_snapshot_id: str) -> Unary[LibraryUpdate]:
    """AdminService.SaveLibrary. What a library only tells is left out, so that one that was listed can be changed."""
    request = admin_pb2.SaveLibraryRequest(validate_only=validate_only, if_snapshot_id=if_snapshot_id)
    fill(request.library, replace(library, **_TOLD))
    return Unary(method("AdminService/SaveLibrary"), request, value_of(LibraryUpdate))


def delete_library(library: str, confirmation: str, validate_only: bool) -> Unary[LibraryDeletion]:
    """AdminService.DeleteLibrary."""
    request = admin_pb2.DeleteLibraryRequest(library_id=library, confirmation=confirmation, validate_only=validate_only)
    return Unary(method("AdminService/DeleteLibrary"), request, value_of(LibraryDeletion))


def update_glossary(
    library: str,
    put: Iterable[Term],
    remove: Iterable[TermRef],
    replace_all: bool,
    validate_only: bool,
    if_snapshot_id: str,
) -> Unary[GlossaryUpdate]:
    """AdminService.UpdateGlossary."""
    request = admin_pb2.UpdateGlossaryRequest(
        library_id=library, replace_all=replace_all, validate_only=validate_only, if_snapshot_id=if_snapshot_id
    )
    for term in put:
        fill(request.put.add(), term)
    for reference in remove:
        fill(request.remove.add(), reference)
    return Unary(method("AdminService/UpdateGlossary"), request, value_of(GlossaryUpdate))
