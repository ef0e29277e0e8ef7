"""What a trace found as a picture: nodes, arrows and notes, drawn as Mermaid, DOT or SVG."""

from groundwire_server.cli.pictures.dot import draw_dot
from groundwire_server.cli.pictures.mermaid import draw_mermaid
from groundwire_server.cli.pictures.picture import Arrow, Box, BoxKind, Picture
from groundwire_server.cli.pictures.seen import picture_of
from groundwire_server.cli.pictures.svg import draw_svg

__all__ = ["Arrow", "Box", "BoxKind", "Picture", "draw_dot", "draw_mermaid", "draw_svg", "picture_of"]
