"""Makes presentations with what is rare, one file for each: python hard.py FOLDER"""
import copy, io, struct, sys, zlib
from lxml import etree
from pptx import Presentation
from pptx.chart.data import BubbleChartData, CategoryChartData, XyChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE as T, XL_LEGEND_POSITION
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.oxml.ns import qn
from pptx.util import Emu, Inches, Pt

def png(shade, w=40, h=30):
    rows = b"".join(b"\0" + bytes(b for x in range(w) for b in (shade, x * 6 % 256, y * 8 % 256)) for y in range(h))
    def chunk(k, d): return struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d))
    return io.BytesIO(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) +
                      chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

def new(layout=5, title="A title"):
    prs = Presentation()
    return prs, slide(prs, layout, title)

def slide(prs, layout=5, title="A title"):
    s = prs.slides.add_slide(prs.slide_layouts[layout])
    if s.shapes.title is not None: s.shapes.title.text_frame.text = title
    return s

def text(s, words, x=1, y=2, w=4, h=1):
    box = s.shapes.add_textbox(Inches(x), Inches(y), Inches(w), Inches(h))
    box.text_frame.text = words
    return box

def alt(shape, words): shape._element._nvXxPr.cNvPr.set("descr", words)

def hidden():
    prs, s = new(title="Shown")
    for n in range(3):
        h = slide(prs, title=f"Hidden {n}")
        h._element.set("show", "0")
        h.notes_slide.notes_text_frame.text = "a note that nobody shows"
    slide(prs, title="Shown again")
    return prs

def groups():
    prs, s = new()
    g = s.shapes.add_group_shape()
    g.shapes.add_textbox(Inches(1), Inches(2), Inches(2), Inches(1)).text_frame.text = "first of the group"
    inner = g.shapes.add_group_shape()
    inner.shapes.add_textbox(Inches(1), Inches(3), Inches(2), Inches(1)).text_frame.text = "within a group in a group"
    p = inner.shapes.add_picture(png(10), Inches(4), Inches(3), Inches(1), Inches(1))
    alt(p, "a picture in a group")
    g.rotation = 90
    inner.rotation = 30
    g.width, g.left = Emu(int(g.width / 2)), Inches(5)
    g._element.grpSpPr.find(qn("a:xfrm")).set("flipH", "1")
    return prs

def rotated():
    prs, s = new()
    for i, angle in enumerate([0.5, 45, 90, 180, 270, 359]):
        box = text(s, f"turned by {angle}", 1 + i, 2 + i * .6, 2, .5)
        box.rotation = angle
    p = s.shapes.add_picture(png(90), Inches(7), Inches(2), Inches(1), Inches(2))
    p.rotation, p.crop_left, p.crop_bottom = 33, .25, .1
    p._element.spPr.find(qn("a:xfrm")).set("flipV", "1")
    return prs

def spans():
    prs, s = new()
    t = s.shapes.add_table(6, 5, Inches(.5), Inches(2), Inches(8), Inches(3)).table
    for r in range(6):
        for c in range(5): t.cell(r, c).text = f"{r}.{c}"
    t.cell(0, 0).merge(t.cell(0, 4))
    t.cell(1, 0).merge(t.cell(3, 1))
    t.cell(2, 3).merge(t.cell(5, 3))
    t.cell(4, 4).merge(t.cell(5, 4))
    t.cell(1, 2).text = "first\nsecond\vthird"
    t.last_row = t.first_col = True
    t.columns[2].width = Inches(3)
    return prs

def charts(kinds):
    prs = Presentation()
    for kind in kinds:
        s = slide(prs, title=str(kind))
        if kind == T.BUBBLE or kind.name.startswith("XY"):
            data = BubbleChartData() if kind == T.BUBBLE else XyChartData()
            for n in range(2):
                ser = data.add_series(f"Series {n} =1+1")
                for k in range(4): ser.add_data_point(*([k * 1.5, k * n - 2] + ([k + 1] if kind == T.BUBBLE else [])))
        else:
            data = CategoryChartData(number_format="0.00%")
            data.categories = ["=SUM(A1)", "-1", "Q3 & more", "四", "رابع"]
            for n in range(1 if kind in (T.PIE, T.DOUGHNUT) else 3):
                data.add_series(f"Series {n}", [1, None, -3.25 if kind not in (T.PIE, T.DOUGHNUT) else 3, 4e10, .5e-9])
        frame = s.shapes.add_chart(kind, Inches(1), Inches(1.7), Inches(7), Inches(5), data)
        alt(frame, f"a chart of {kind}")
        frame.chart.has_legend = True
        frame.chart.legend.position = XL_LEGEND_POSITION.BOTTOM
        frame.chart.has_title = True
        frame.chart.chart_title.text_frame.text = "Ships & cranes"
        if "SMOOTH" in kind.name or kind == T.LINE_MARKERS:
            for smooth in frame.chart._chartSpace.iter(qn("c:smooth")): smooth.set("val", "1")
    return prs

def mixed():
    """Columns with a line: on their axis, and on one of its own; columns of two groupings; lines that are percents."""
    prs = Presentation()
    for kind, other, own in ((T.COLUMN_STACKED, T.LINE, False), (T.COLUMN_STACKED_100, T.LINE_MARKERS, True), (T.BAR_CLUSTERED, T.BAR_STACKED, True),
                             (T.AREA_STACKED, T.LINE_STACKED, False), (T.LINE_STACKED_100, T.LINE, True), (T.COLUMN_CLUSTERED, T.COLUMN_STACKED, True)):
        data, more = CategoryChartData(number_format="#,##0"), CategoryChartData(number_format="0.0%")
        data.categories = more.categories = ["Q1", "Q2", "Q3", "Q4"]
        for n in range(3): data.add_series(f"Ships {n}", [5 + n, 1, 3 * n, 4])
        for n in range(2): more.add_series(f"Share {n}", [.5, .25, .125 * n, None])
        s = slide(prs, title=f"{kind} with {other}")
        at = Inches(1), Inches(1.7), Inches(7), Inches(5)
        frame, second = s.shapes.add_chart(kind, *at, data), s.shapes.add_chart(other, *at, more)
        area, from_ = (f.chart._chartSpace.find(f"{qn('c:chart')}/{qn('c:plotArea')}") for f in (frame, second))
        plot = next(p for p in from_ if p.tag.endswith("Chart"))
        for n, ser in enumerate(plot.findall(qn("c:ser"))):
            ser.find(qn("c:idx")).set("val", str(3 + n))
            ser.find(qn("c:order")).set("val", str(3 + n))
        plots = [p for p in area if p.tag.endswith("Chart")]
        if own:
            frame.chart.value_axis.has_title = True
            frame.chart.value_axis.axis_title.text_frame.text = "Number"
            for axis in [a for a in from_ if a.tag.endswith("Ax")]:
                for ref in (axis.find(qn("c:axId")), axis.find(qn("c:crossAx"))): ref.set("val", ref.get("val").strip("-") + "7")
                axis.find(qn("c:delete")).set("val", "1" if axis.tag == qn("c:catAx") else "0")
                if axis.tag == qn("c:valAx"): axis.find(qn("c:crosses")).set("val", "max")
                area.append(axis)
            for ref in plot.findall(qn("c:axId")): ref.set("val", ref.get("val").strip("-") + "7")
            title = copy.deepcopy(area.findall(qn("c:valAx"))[0].find(qn("c:title")))
            title.find(f".//{qn('a:t')}").text = "Part"
            axis = area.findall(qn("c:valAx"))[-1]
            axis.insert([k.tag for k in axis].index(qn("c:axPos")) + 1 + len(axis.findall(qn("c:majorGridlines"))), title)
        else:
            for ref, to in zip(plot.findall(qn("c:axId")), plots[0].findall(qn("c:axId"))): ref.set("val", to.get("val"))
        plots[-1].addnext(plot)
        s.shapes._spTree.remove(second._element)
    return prs

def levels():
    prs, s = new()
    data = CategoryChartData()
    for year in ("2025", "2026"):
        c = data.add_category(year)
        for q in ("Q1", "Q2"): c.add_sub_category(q)
    data.add_series("Ships", [1, 2, 3, 4])
    s.shapes.add_chart(T.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(7), Inches(4), data)
    return prs

def directions():
    prs, s = new(1, "تقرير الميناء")
    body = s.placeholders[1].text_frame
    body.text = "سفينة في الميناء رقم 12 (ثلاثة)"
    for words in ("אורך הרציף 240 מטר", "mixed عربي and English 50%"):
        p = body.add_paragraph()
        p.text = words
    for p in body.paragraphs: p._p.get_or_add_pPr().set("rtl", "1")
    return prs

def template():
    """A template that is written from right to left: its paragraphs don't say so, but for a Latin one."""
    prs, s = new(1, "تقرير الميناء")
    for level in prs.slide_master._element.iter(*(qn(f"a:lvl{n}pPr") for n in range(1, 10))):
        level.set("rtl", "1")
        level.set("algn", "r")
    body = s.placeholders[1].text_frame
    body.text = "سفينة في الميناء رقم 12 (ثلاثة)"
    p = body.add_paragraph()
    p.text = "The harbour office"
    p._p.get_or_add_pPr().set("rtl", "0")
    p = body.add_paragraph()
    p.text, p.level = "אורך", 1
    p._p.get_or_add_pPr().set("rtl", "1")
    return prs

def cjk():
    prs, s = new(1, "港口报告")
    body = s.placeholders[1].text_frame
    body.text = "第一季度共有三百二十艘船舶进港，吞吐量同比增长百分之十二。"
    for words in ("港の安全規則を守りましょう。", "항구의 안전 수칙", "𠮷野家 😀 emoji"):
        body.add_paragraph().text = words
    s.notes_slide.notes_text_frame.text = "备注：请慢慢说。\n二行目"
    return prs

def notes():
    prs, s = new()
    for n in range(4):
        s = slide(prs, title=f"With notes {n}")
        s.notes_slide.notes_text_frame.text = ["", "one line", "two\nlines", "a\vbreak\n\nand an empty line\n- item"][n]
    return prs

def links():
    prs, s = new()
    other = slide(prs, title="Target")
    p = text(s, "see ").text_frame.paragraphs[0]
    for address in ("https://example.org/a?b=1&c=%20d#e", "mailto:harbour@example.org?subject=x", "http://[::1]:8080/"):
        r = p.add_run()
        r.text, r.hyperlink.address = f"<{address}>", address
    jump = s.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(1), Inches(4), Inches(2), Inches(1))
    jump.text_frame.text = "to the other slide"
    jump.click_action.target_slide = other
    pic = s.shapes.add_picture(png(5), Inches(5), Inches(4), Inches(1), Inches(1))
    pic.click_action.hyperlink.address = "https://example.org/picture"
    return prs

def alts():
    prs, s = new()
    alt(s.shapes.add_picture(png(7), Inches(1), Inches(2), Inches(1), Inches(1)), 'a "quay" & <crane>\nsecond line')
    alt(s.shapes.add_table(2, 2, Inches(3), Inches(2), Inches(3), Inches(1)), "a table")
    alt(text(s, "a box", 1, 5), "a text box's own")
    alt(s.shapes.add_shape(MSO_SHAPE.OVAL, Inches(5), Inches(5), Inches(1), Inches(1)), "a circle without text")
    alt(s.shapes.add_connector(MSO_CONNECTOR.ELBOW, Inches(1), Inches(6), Inches(4), Inches(6.5)), "a line")
    return prs

def master():
    prs, s = new()
    for holder in (prs.slide_master, prs.slide_layouts[5]):
        sp = copy.deepcopy(text(s, "CONFIDENTIAL", 0, 7, 3, .4)._element)
        holder.shapes._spTree.append(sp)
    s.shapes._spTree.remove(s.shapes[-1]._element)
    s.shapes._spTree.remove(s.shapes[-1]._element)
    slide(prs, 1, "On the master").placeholders[1].text_frame.text = "there is text on the master"
    return prs

def full():
    prs, s = new(1, "A slide that is rather full")
    body = s.placeholders[1].text_frame
    body.text = "point 0"
    for n in range(1, 40): body.add_paragraph().text = f"point {n} says something about the quays and the ships that berth there"
    text(s, "a long text in a small box " * 20, 1, 6, 2, .5)
    t = slide(prs, title="A long table").shapes.add_table(40, 3, Inches(1), Inches(2), Inches(7), Inches(4)).table
    for r in range(40):
        for c in range(3): t.cell(r, c).text = f"row {r}, column {c}"
    return prs

def order():
    prs, s = new()
    for n, (x, y) in enumerate([(6, 5), (1, 2), (6, 2), (1, 5), (3, 3.5), (1, 2.01)]): text(s, f"box {n}", x, y, 2, .4)
    return prs

def spaces():
    prs, s = new()
    text(s, "  leading and trailing  ", 1, 2)
    text(s, "tab\there, no\u00a0break, soft\u00adhyphen, zero\u200bwidth", 1, 3)
    box = text(s, "", 1, 4)
    for words in ("", "after an empty paragraph", "", "", "last", ""): box.text_frame.add_paragraph().text = words
    text(s, "   ", 1, 6)
    return prs

def numbers():
    prs, s = new(1, "Lists")
    frame = s.placeholders[1].text_frame
    frame.text = "numbered"
    for n in range(5):
        p = frame.add_paragraph()
        p.text, p.level = f"item {n}", n
        pr = p._p.get_or_add_pPr()
        pr.append(etree.fromstring('<a:buAutoNum xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" type="romanUcPeriod" startAt="3"/>'))
    return prs

def footers():
    prs, s = new(1, "With footers")
    s.placeholders[1].text_frame.text = "body"
    for kind, words in (("ftr", "Harbour office"), ("dt", "24 November 2026"), ("sldNum", "1")):
        for p in prs.slide_layouts[1].placeholders:
            if p._element.xpath(f'.//p:ph[@type="{kind}"]'):
                el = copy.deepcopy(p._element)
                s.shapes._spTree.append(el)
                s.shapes[-1].text_frame.text = words
    return prs

def sizes():
    prs = Presentation()
    prs.slide_width, prs.slide_height = Inches(7.5), Inches(13.33)
    s = slide(prs, 1, "Portrait")
    s.placeholders[1].text_frame.text = "a slide that is higher than wide"
    return prs

def empty():
    prs = Presentation()
    slide(prs, 6)
    slide(prs, 0, "")
    slide(prs, 5, "after two empty ones")
    return prs

FILES = {
    "hidden": hidden, "groups": groups, "rotated": rotated, "spans": spans, "levels": levels, "rtl": directions, "cjk": cjk,
    "template": template, "notes": notes, "links": links, "alts": alts, "master": master, "full": full, "order": order, "spaces": spaces,
    "numbers": numbers, "footers": footers, "portrait": sizes, "empty": empty,
    "bars": lambda: charts([T.COLUMN_CLUSTERED, T.COLUMN_STACKED, T.COLUMN_STACKED_100, T.BAR_CLUSTERED, T.BAR_STACKED, T.BAR_STACKED_100]),
    "plots": lambda: charts([T.LINE, T.LINE_MARKERS, T.LINE_STACKED, T.AREA, T.AREA_STACKED, T.RADAR, T.RADAR_FILLED, T.PIE, T.DOUGHNUT,
                             T.XY_SCATTER, T.XY_SCATTER_LINES, T.BUBBLE]),
    "lines": lambda: charts([T.LINE_STACKED_100, T.LINE_MARKERS_STACKED, T.AREA_STACKED_100, T.RADAR_MARKERS, T.XY_SCATTER_LINES_NO_MARKERS,
                             T.XY_SCATTER_SMOOTH, T.XY_SCATTER_SMOOTH_NO_MARKERS]),
    "mixed": mixed,
}
for name, make in FILES.items(): make().save(f"{sys.argv[1]}/{name}.pptx")
