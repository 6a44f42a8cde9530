"""Workbooks written by hand: nothing that tests need would be worth a package that writes them."""

from __future__ import annotations

import datetime as dt
import zipfile
from xml.sax.saxutils import escape, quoteattr

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
ERRORS = ("#DIV/0!", "#N/A")


def write_workbook(path, sheets):
    """Write sheets, a mapping from names to rows of cells, as an .xlsx file."""
    names = list(sheets)
    entries = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{k}" r:id="rId{k}"/>'
        for k, name in enumerate(names, 1)
    )
    related = "".join(
        f'<Relationship Id="rId{k}" Type="{RELATIONS}/worksheet" Target="worksheets/s{k}.xml"/>'
        for k in range(1, len(names) + 1)
    )
    related += f'<Relationship Id="rId0" Type="{RELATIONS}/styles" Target="styles.xml"/>'
    office = f'<Relationship Id="r" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" '
            f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
            f'ContentType="{SHEET_TYPE}"/></Types>',
        )
        out.writestr("_rels/.rels", _relations(office))
        out.writestr("xl/_rels/workbook.xml.rels", _relations(related))
        out.writestr(
            "xl/workbook.xml",
            f'<workbook {MAIN} xmlns:r="{RELATIONS}"><sheets>{entries}</sheets></workbook>',
        )
        out.writestr(
            "xl/styles.xml",
            f'<styleSheet {MAIN}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
            "</styleSheet>",
        )
        for k, rows in enumerate(sheets.values(), 1):
            out.writestr(f"xl/worksheets/s{k}.xml", _sheet(rows))
    return path


def _relations(entries):
    return f'<Relationships xmlns="{PACKAGE}/relationships">{entries}</Relationships>'


def _sheet(rows):
    lines = [
        f'<row r="{i}">'
        + "".join(_cell(f"{chr(65 + j)}{i}", cell) for j, cell in enumerate(row))
        + "</row>"
        for i, row in enumerate(rows, 1)
    ]
    return f"<worksheet {MAIN}><sheetData>{''.join(lines)}</sheetData></worksheet>"


def _cell(place, cell):
    if cell is None:
        return ""
    if cell in ERRORS:
        return f'<c r="{place}" t="e"><v>{cell}</v></c>'
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    if isinstance(cell, dt.datetime):
        days = (cell - dt.datetime(1899, 12, 30)) / dt.timedelta(days=1)
        return f'<c r="{place}" s="1"><v>{days}</v></c>'
    return f'<c r="{place}"><v>{cell}</v></c>'
