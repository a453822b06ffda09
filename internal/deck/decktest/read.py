"""Prints what python-pptx reads of presentations, as JSON: python read.py FILE..."""
import json, sys
import pptx
from pptx.util import Emu

def table(t):
    return [[{"text": c.text, "span": [c.span_height, c.span_width], "spanned": c.is_spanned} for c in r.cells] for r in t.rows]

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"

def raw(p):
    """A plot of a kind that python-pptx doesn't know, such as bars with depth."""
    def points(ser, name):
        cache = ser.find(f"{C}{name}//{C}ptCount/..")
        if cache is None:
            return []
        out = [None] * int(cache.find(f"{C}ptCount").get("val"))
        for pt in cache.findall(f"{C}pt"):
            out[int(pt.get("idx"))] = pt.find(f"{C}v").text
        return out
    sers = p.findall(f"{C}ser")
    return {"kind": p.tag.rsplit("}", 1)[1].replace("3D", ""), "categories": points(sers[0], "cat"),
            "series": [{"name": points(s, "tx")[0], "values": [float(v) for v in points(s, "val")]} for s in sers]}

def look(p, plot):
    """The type of a plot as python-pptx has it, and the axes that it has: of categories and of values, their titles and directions."""
    from pptx.chart.plot import PlotTypeInspector
    words = [str(PlotTypeInspector.chart_type(plot))]
    for i in p.findall(f"{C}axId"):
        axis = next((a for a in p.getparent() if a.tag.endswith("Ax") and a.find(f"{C}axId").get("val") == i.get("val")), None)
        title = axis.find(f"{C}title")
        words.append("".join(title.itertext()).strip() if title is not None else "-")
        words.append("hidden" if axis.find(f"{C}delete").get("val") in ("1", "true") else "shown")
        way = axis.find(f"{C}scaling/{C}orientation")
        words.append("minMax" if way is None else way.get("val"))
    return words

def line(s):
    """Whether a line is curved, and its points are marked."""
    smooth, symbol = s.find(f"{C}smooth"), s.find(f"{C}marker/{C}symbol")
    return [smooth is not None and smooth.get("val", "1") == "1", symbol is None or symbol.get("val") != "none"]

def chart(c):
    plots = []
    for p in c._chartSpace.find(f"{C}chart/{C}plotArea"):
        tag = p.tag.rsplit("}", 1)[1]
        if not tag.endswith("Chart"):
            continue
        if "3D" in tag:
            plots.append(raw(p))
            continue
        from pptx.chart.plot import PlotFactory
        plot = PlotFactory(p, c)
        xy = tag in ("scatterChart", "bubbleChart")
        plots.append({"kind": tag, "categories": [] if xy else list(plot.categories), "look": look(p, plot),
                      "series": [{"name": s.name, "values": list(s.values), "look": line(s._element)} for s in plot.series]})
    title = c._chartSpace.find(f"{C}chart/{C}title")
    text = "" if title is None else "".join(t.text or "" for t in title.iter("{http://schemas.openxmlformats.org/drawingml/2006/main}t"))
    return {"title": text, "plots": plots, "workbook": c.part.chart_workbook.xlsx_part is not None}

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"

def shapes(tree, grouped=False):
    for s in tree:
        if s.shape_type is not None and s.shape_type == 6:
            yield from shapes(s.shapes, True)
        else:
            yield s, grouped

def click(s):
    """The target of a click on all of a shape: an address, or a slide's part without its folder."""
    link = s._element._nvXxPr.cNvPr.find(f"{A}hlinkClick")
    if link is None or not link.get(f"{R}id"):
        return ""
    rel = s.part.rels[link.get(f"{R}id")]
    return rel.target_ref if rel.is_external else str(rel.target_part.partname).rsplit("/", 1)[1]

def rtl(s, p):
    """Whether a paragraph is written from right to left, as it says itself or inherits it."""
    places, holder, kind = [s._element.txBody.find(f"{A}lstStyle")], s, "other"
    if s.is_placeholder:
        named = s.placeholder_format.type
        named = named.name if named is not None else "OBJECT"
        kind = "title" if "TITLE" in named and named != "SUBTITLE" else "other" if named in ("DATE", "FOOTER", "SLIDE_NUMBER") else "body"
        while (holder := getattr(holder, "_base_placeholder", None)) is not None:
            places.append(holder._element.txBody.find(f"{A}lstStyle"))
    styles = s.part.slide_layout.slide_master._element.find(f"{P}txStyles")
    places += [styles.find(f"{P}{kind}Style") if styles is not None else None,
               s.part.package.presentation_part._element.find(f"{P}defaultTextStyle")]
    levels = [place.find(f"{A}{name}") for place in places if place is not None for name in (f"lvl{p.level + 1}pPr", "defPPr")]
    for properties in [p._p.pPr] + levels:
        if properties is not None and properties.get("rtl") is not None:
            return properties.get("rtl") in ("1", "true")
    return False

def shape(s, grouped):
    xfrm = next(s._element.iter(f"{A}xfrm"), None)
    turned = lambda name: xfrm is not None and xfrm.get(name) == "1"
    out = {"name": s.name, "box": [s.left, s.top, s.width, s.height], "grouped": grouped, "click": click(s),
           "rotation": round(getattr(s, "rotation", 0), 3), "fliph": turned("flipH"), "flipv": turned("flipV"),
           "alt": s._element._nvXxPr.cNvPr.get("descr", "")}
    if s.has_text_frame and s.text_frame.text.strip():
        out["text"] = s.text_frame.text
        out["rtl"] = [rtl(s, p) for p in s.text_frame.paragraphs]
        out["levels"] = [p.level for p in s.text_frame.paragraphs]
        out["links"] = [[r.text, r.hyperlink.address] for p in s.text_frame.paragraphs for r in p.runs if r.hyperlink.address]
    if getattr(s, "has_table", False) and s.has_table:
        out["table"] = table(s.table)
    if getattr(s, "has_chart", False) and s.has_chart:
        out["chart"] = chart(s.chart)
    if s._element.tag.endswith("}pic"):
        out["picture"] = s.image.sha1
        out["crop"] = [round(v, 4) for v in (s.crop_left, s.crop_top, s.crop_right, s.crop_bottom)]
    return out

def slide(s):
    return {"layout": s.slide_layout.name, "title": s.shapes.title.text_frame.text if s.shapes.title is not None else "",
            "shapes": [shape(x, grouped) for x, grouped in shapes(s.shapes)], "hidden": s._element.get("show") == "0",
            "notes": s.notes_slide.notes_text_frame.text if s.has_notes_slide and s.notes_slide.notes_text_frame else ""}

out = []
for name in sys.argv[1:]:
    p = pptx.Presentation(name)
    out.append({"size": [p.slide_width, p.slide_height], "slides": [slide(s) for s in p.slides]})
json.dump(out, sys.stdout)
