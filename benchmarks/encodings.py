"""How often the charset of a text is told: real texts of several lengths, re-encoded and read without a hint.

    python benchmarks/encodings.py --data ../shared/data

Texts from which the table of common characters was counted (JaQuAD, CMRC 2018, every other text of DRCD) are left out.
`right` reads back as it was, `doubt` is right with a warning, `wrong` is another text without any, `refused` asks for
`charset`. Western and Korean texts have no charset here that could be told: each of them is to be refused.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from groundwire_server.errors import DocumentRefused
from groundwire_server.readers import decode

LENGTHS = (10, 20, 50, 100, 300, 1000)
WIDE = ("utf_8", "utf_16", "utf_16_le", "utf_16_be")
CODECS = {
    "Japanese": (*WIDE, "cp932", "euc_jp"),
    "Chinese, simplified": (*WIDE, "gb18030"),
    "Chinese, traditional": (*WIDE, "cp950", "gb18030"),
    "English": WIDE,
}
# From the Universal Declaration of Human Rights, articles 1 and 3, in charsets that are not told.
OTHERS = {
    ("French", "cp1252"): "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de "
    "raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    ("German", "cp1252"): "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und "
    "Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    ("Russian", "cp1251"): "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом "
    "и совестью и должны поступать в отношении друг друга в духе братства.",
    (
        "Korean",
        "cp949",
    ): "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 "
    "양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
}


def main() -> int:
    """Print the table, then one JSON line a row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--texts", type=int, default=300, help="of each language, charset and length")
    args = parser.parse_args()
    rows = [
        row
        for language, codecs in CODECS.items()
        for codec in codecs
        for length in LENGTHS
        if (row := measure(language, codec, length, list(texts_of(args.data, language)), args.texts))
    ]
    rows += [measure(language, codec, 0, windows(text), args.texts) for (language, codec), text in OTHERS.items()]
    print(f"{'language':<22}{'charset':<12}{'length':>7}{'n':>5}{'right':>7}{'doubt':>7}{'refused':>9}{'wrong':>7}")
    for row in rows:
        shown = "".join(f"{row[name]:>{width}}" for name, width in COLUMNS)
        print(f"{row['language']:<22}{row['charset']:<12}{row['length'] or 'any':>7}{shown}")
    for row in rows:
        print(json.dumps(row))
    return 0


COLUMNS = (("n", 5), ("right", 7), ("doubt", 7), ("refused", 9), ("wrong", 7))


def texts_of(data: Path, language: str) -> Iterator[str]:
    """Texts of a language, none of those that the table of common characters was counted from."""
    match language:
        case "Japanese":
            yield from lines(data / "jsquad/corpus.jsonl")
        case "Chinese, simplified":
            yield from lines(data / "dureader/corpus.jsonl")
        case "Chinese, traditional":
            yield from list(lines(data / "drcd/corpus.jsonl"))[1::2]
        case _:
            yield from lines(data / "scifact/corpus.jsonl")


def lines(path: Path) -> Iterator[str]:
    """The texts of a corpus."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield json.loads(line)["text"]


def windows(text: str) -> list[str]:
    """Stretches of 20 to 120 characters from every place of a text that is repeated."""
    return [(text + " " + text)[start : start + 20 + start % 101] for start in range(len(text))]


def measure(language: str, codec: str, length: int, texts: list[str], most: int) -> dict[str, object]:
    """Counts of outcomes over the first texts that are long enough and that the charset can hold; {}: none is."""
    counts: Counter[str] = Counter()
    for text in texts:
        piece = text[:length] if length else text
        if len(piece) < (length if length <= 300 else 300) or counts.total() >= most:
            continue
        try:
            raw = piece.encode(codec)
        except UnicodeEncodeError:
            continue
        if length or not raw.isascii():
            counts[outcome(raw, raw.decode(codec) if length else None)] += 1
    named = {name: counts[name] for name in ("right", "doubt", "refused", "wrong")}
    row = {"name": "encoding", "language": language, "charset": codec, "length": length, "n": counts.total(), **named}
    return row if counts else {}


def outcome(raw: bytes, expected: str | None) -> str:
    """What becomes of bytes; `expected` None: nothing is right."""
    try:
        decoded = decode("text", raw)
    except DocumentRefused:
        return "refused"
    if decoded.text != expected:
        return "doubt" if decoded.doubt and expected is None else "wrong"
    return "doubt" if decoded.doubt else "right"


if __name__ == "__main__":
    sys.exit(main())
