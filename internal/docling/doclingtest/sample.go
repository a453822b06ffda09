package doclingtest

import "encoding/json"

// Sample is the DoclingDocument of a page with a title, two paragraphs, a list, a table and a page footer.
var Sample = json.RawMessage(`{
 "schema_name": "DoclingDocument", "version": "1.10.0", "name": "document",
 "origin": {"mimetype": "application/pdf", "binary_hash": 1, "filename": "document.pdf"},
 "furniture": {"self_ref": "#/furniture", "children": [], "content_layer": "furniture", "name": "_root_", "label": "unspecified"},
 "body": {"self_ref": "#/body", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/texts/1"}, {"$ref": "#/groups/0"}, {"$ref": "#/tables/0"}, {"$ref": "#/texts/5"}, {"$ref": "#/texts/4"}],
  "content_layer": "body", "name": "_root_", "label": "unspecified"},
 "groups": [{"self_ref": "#/groups/0", "parent": {"$ref": "#/body"}, "children": [{"$ref": "#/texts/2"}, {"$ref": "#/texts/3"}], "content_layer": "body", "name": "list", "label": "list"}],
 "texts": [
  {"self_ref": "#/texts/0", "parent": {"$ref": "#/body"}, "children": [], "content_layer": "body", "label": "title", "orig": "Harbour rules", "text": "Harbour rules",
   "prov": [{"page_no": 1, "bbox": {"l": 100, "t": 700, "r": 300, "b": 650, "coord_origin": "BOTTOMLEFT"}, "charspan": [0, 13]}]},
  {"self_ref": "#/texts/1", "parent": {"$ref": "#/body"}, "children": [], "content_layer": "body", "label": "text", "orig": "Ships report to the harbour master before they enter.", "text": "Ships report to the harbour master before they enter.",
   "prov": [{"page_no": 1, "bbox": {"l": 100, "t": 640, "r": 500, "b": 600, "coord_origin": "BOTTOMLEFT"}, "charspan": [0, 53]}]},
  {"self_ref": "#/texts/2", "parent": {"$ref": "#/groups/0"}, "children": [], "content_layer": "body", "label": "list_item", "enumerated": true, "marker": "1.", "orig": "Name of the ship", "text": "Name of the ship", "prov": []},
  {"self_ref": "#/texts/3", "parent": {"$ref": "#/groups/0"}, "children": [], "content_layer": "body", "label": "list_item", "enumerated": true, "marker": "2.", "orig": "Draught in metres", "text": "Draught in metres", "prov": []},
  {"self_ref": "#/texts/4", "parent": {"$ref": "#/body"}, "children": [], "content_layer": "furniture", "label": "page_footer", "orig": "Page 1", "text": "Page 1",
   "prov": [{"page_no": 1, "bbox": {"l": 100, "t": 40, "r": 150, "b": 30, "coord_origin": "BOTTOMLEFT"}, "charspan": [0, 6]}]},
  {"self_ref": "#/texts/5", "parent": {"$ref": "#/body"}, "children": [], "content_layer": "body", "label": "text", "orig": "The tariff holds from January.", "text": "The tariff holds from January.", "prov": []}
 ],
 "pictures": [], "key_value_items": [], "form_items": [],
 "tables": [{"self_ref": "#/tables/0", "parent": {"$ref": "#/body"}, "children": [], "content_layer": "body", "label": "table", "captions": [], "references": [], "footnotes": [],
  "prov": [{"page_no": 1, "bbox": {"l": 100, "t": 300, "r": 500, "b": 400, "coord_origin": "TOPLEFT"}, "charspan": [0, 0]}],
  "data": {"num_rows": 2, "num_cols": 2, "grid": [], "table_cells": [
   {"row_span": 1, "col_span": 1, "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 0, "end_col_offset_idx": 1, "text": "Length", "column_header": true, "row_header": false, "row_section": false},
   {"row_span": 1, "col_span": 1, "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 1, "end_col_offset_idx": 2, "text": "Fee", "column_header": true, "row_header": false, "row_section": false},
   {"row_span": 1, "col_span": 1, "start_row_offset_idx": 1, "end_row_offset_idx": 2, "start_col_offset_idx": 0, "end_col_offset_idx": 1, "text": "under 10 m", "column_header": false, "row_header": false, "row_section": false},
   {"row_span": 1, "col_span": 1, "start_row_offset_idx": 1, "end_row_offset_idx": 2, "start_col_offset_idx": 1, "end_col_offset_idx": 2, "text": "12", "column_header": false, "row_header": false, "row_section": false}
  ]}}],
 "pages": {"1": {"size": {"width": 600, "height": 800}, "page_no": 1}}
}`)
