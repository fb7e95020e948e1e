"""Prints every cell of a flat OpenDocument spreadsheet as JSON: rows of [type, formula or null, text]."""

import json
import sys
import xml.etree.ElementTree as tree

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def shown(paragraph):
    """The text of a paragraph; runs of blanks are elements of their own."""
    parts = [paragraph.text or ""]
    for child in paragraph:
        if child.tag == TEXT + "s":
            parts.append(" " * int(child.get(TEXT + "c", "1")))
        else:
            parts.append(shown(child))
        parts.append(child.tail or "")
    return "".join(parts)


rows = []
for row in tree.parse(sys.argv[1]).iter(TABLE + "table-row"):
    cells = []
    for cell in row.iter(TABLE + "table-cell"):
        text = "\n".join(shown(p) for p in cell.findall(TEXT + "p"))
        found = [cell.get(OFFICE + "value-type"), cell.get(TABLE + "formula"), text]
        # A blank rest of a row is one cell repeated a thousand times.
        cells.extend([found] * min(int(cell.get(TABLE + "number-columns-repeated", "1")), 50))
    rows.append(cells)
print(json.dumps(rows))
