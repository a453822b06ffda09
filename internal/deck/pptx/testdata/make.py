"""Makes presentations with python-pptx, each of another seed: python make.py FOLDER COUNT"""
import io, random, struct, sys, zlib
from pptx import Presentation
from pptx.chart.data import BubbleChartData, CategoryChartData, XyChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE as T
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Emu, Inches, Pt

WORDS = ("harbour berth quay ship crane Fähre écluse порт λιμάνι ميناء נמל 港 항구 a&b <x> 100% \"q\" – … crew tide "
         "lantern depth metre lock season draught").split()

def png(r, w=40, h=30):
    rows = b"".join(b"\0" + bytes(r.randrange(256) for _ in range(3 * w)) for _ in range(h))
    def chunk(k, d): return struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d))
    return io.BytesIO(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) +
                      chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

def words(r, most=12): return " ".join(r.choice(WORDS) for _ in range(r.randint(1, most)))

def fill(r, frame, paragraphs=5):
    frame.text = words(r)
    for _ in range(r.randint(0, paragraphs)):
        p = frame.add_paragraph()
        p.level = r.randint(0, 4)
        p.alignment = r.choice([None, PP_ALIGN.CENTER, PP_ALIGN.RIGHT])
        for _ in range(r.randint(1, 3)):
            run = p.add_run()
            run.text = words(r, 5) + r.choice(["", " ", "\v" + words(r, 2)])
            run.font.bold = r.choice([None, True, False])
            run.font.italic = r.choice([None, True])
            if r.random() < .3: run.font.size = Pt(r.randint(9, 40))
            if r.random() < .3: run.font.color.rgb = RGBColor(r.randrange(256), 20, 90)
            elif r.random() < .3: run.font.color.theme_color = r.choice([MSO_THEME_COLOR.ACCENT_1, MSO_THEME_COLOR.TEXT_2])
            if r.random() < .2: run.hyperlink.address = f"https://example.org/{r.randrange(99)}?a=1&b=2"

def box(r, prs): return [Emu(r.randrange(int(prs.slide_width * .6))), Emu(r.randrange(int(prs.slide_height * .6))),
                         Inches(r.uniform(1, 4)), Inches(r.uniform(.5, 3))]

def table(r, slide, prs):
    rows, columns = r.randint(1, 7), r.randint(1, 6)
    t = slide.shapes.add_table(rows, columns, *box(r, prs)).table
    for row in t.rows:
        for c in row.cells: c.text = r.choice(["", words(r, 4), str(r.randrange(1000)), "two\nlines"])
    t.first_row = r.random() < .7
    if rows > 1 and columns > 1 and r.random() < .7:
        a, b = r.randrange(rows - 1), r.randrange(columns - 1)
        t.cell(a, b).merge(t.cell(r.randint(a, rows - 1), r.randint(b, columns - 1)))

def number(r): return r.choice([r.randrange(100), round(r.uniform(-5, 5), 3), 1e-7 * r.random(), 12345678.5])

def chart(r, slide, prs):
    kind = r.choice([T.COLUMN_CLUSTERED, T.COLUMN_STACKED, T.BAR_CLUSTERED, T.BAR_STACKED_100, T.LINE, T.LINE_MARKERS, T.PIE,
                     T.DOUGHNUT, T.AREA, T.AREA_STACKED, T.RADAR, T.XY_SCATTER, T.BUBBLE])
    if kind == T.XY_SCATTER or kind == T.BUBBLE:
        data = XyChartData() if kind == T.XY_SCATTER else BubbleChartData()
        for s in range(r.randint(1, 3)):
            series = data.add_series(words(r, 2))
            for _ in range(r.randint(1, 6)):
                series.add_data_point(*([number(r), number(r)] + ([] if kind == T.XY_SCATTER else [r.randint(1, 9)])))
    else:
        data = CategoryChartData(number_format=r.choice(["General", "0.0", "#,##0"]))
        data.categories = [words(r, 2) for _ in range(r.randint(1, 6))] if r.random() < .8 else list(range(2020, 2024))
        for s in range(1 if kind in (T.PIE, T.DOUGHNUT) else r.randint(1, 4)):
            data.add_series(words(r, 2), [r.choice([None, number(r)]) if r.random() < .2 else number(r) for _ in data.categories])
    c = slide.shapes.add_chart(kind, *box(r, prs)[:2], Inches(5), Inches(3), data).chart
    c.has_legend = r.random() < .5
    if r.random() < .5:
        c.has_title = True
        c.chart_title.text_frame.text = words(r, 3)

def group(r, slide, prs):
    g = slide.shapes.add_group_shape()
    for _ in range(2): fill(r, g.shapes.add_textbox(*box(r, prs)).text_frame, 1)
    g.width, g.height = Emu(int(g.width * .5)), Emu(int(g.height * .8))

def figure(r, slide, prs):
    s = slide.shapes.add_shape(r.choice([MSO_SHAPE.RECTANGLE, MSO_SHAPE.OVAL, MSO_SHAPE.CHEVRON, MSO_SHAPE.ROUNDED_RECTANGLE]), *box(r, prs))
    s.rotation = r.choice([0, 0, 30, 345])
    s.text_frame.vertical_anchor = MSO_ANCHOR.MIDDLE
    if r.random() < .7: fill(r, s.text_frame, 1)

def deck(seed):
    r = random.Random(seed)
    prs = Presentation()
    if r.random() < .5: prs.slide_width, prs.slide_height = Inches(13.333), Inches(7.5)
    prs.core_properties.title = words(r, 3)
    pictures = [png(r), png(r)]
    for _ in range(r.randint(2, 7)):
        slide = prs.slides.add_slide(prs.slide_layouts[r.choice([0, 1, 2, 3, 5, 6])])
        for p in slide.placeholders: fill(r, p.text_frame, 0 if p.placeholder_format.type == 1 else 4)
        for _ in range(r.randint(0, 3)):
            r.choice([table, chart, group, figure, lambda *a: slide.shapes.add_picture(r.choice(pictures), *box(r, prs)),
                      lambda *a: fill(r, slide.shapes.add_textbox(*box(r, prs)).text_frame),
                      lambda *a: slide.shapes.add_connector(MSO_CONNECTOR.STRAIGHT, *box(r, prs))])(r, slide, prs)
        if r.random() < .5: slide.notes_slide.notes_text_frame.text = "\n".join(words(r) for _ in range(r.randint(1, 3)))
        if r.random() < .15: slide._element.set("show", "0")
    return prs

for seed in range(int(sys.argv[2])):
    deck(seed).save(f"{sys.argv[1]}/made-{seed:02d}.pptx")
