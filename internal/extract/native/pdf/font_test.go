package pdf

import "testing"

func TestFontNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]style{
		"PGPFGD+KoPubDotumMedium":  {weight: mediumWeight, face: "kopubdotum"},
		"PGPHFJ+KoPubBatangLight":  {weight: lightWeight, face: "kopubbatang"},
		"HiraMinProN-W3":           {weight: 300, face: "hiraminpron"},
		"HiraKakuProN-W6":          {weight: 600, bold: true, face: "hirakakupron"},
		"TimesNewRomanPS-BoldMT":   {weight: boldWeight, bold: true, face: "timesnew"},
		"TimesNewRomanPSMT":        {weight: regularWeight, face: "timesnew"},
		"HelveticaNeueLTStd-Lt":    {weight: lightWeight, face: "helveticaneue"},
		"CMR10":                    {weight: regularWeight, face: "cmr"},
		"CMBX12":                   {weight: boldWeight, bold: true, face: "cmbx"},
		"Frutiger-BlackItalic":     {weight: boldWeight, bold: true, italic: true, face: "frutiger"},
		"NimbusRomNo9L-Medi":       {weight: boldWeight, bold: true, face: "nimbusromno9l"},
		"NimbusRomNo9L-ReguItal":   {weight: regularWeight, italic: true, face: "nimbusromno9l"},
		"EOFADN+AdvPS6F00":         {weight: regularWeight, face: "advps6f00"}, // the text's of a journal
		"EOFAEB+AdvPS6F01":         {weight: regularWeight, face: "advps6f01"}, // its headings'
		"AdvOT3b30f6db.B":          {weight: boldWeight, bold: true, face: "advot3b30f6db.b"},
		"AdvOT56309c18.I":          {weight: regularWeight, italic: true, face: "advot56309c18.i"},
		"HelveticaNeueLTStd-Blk":   {weight: boldWeight, bold: true, face: "helveticaneue"},
		"AAAAAA+Bold":              {weight: boldWeight, bold: true, face: "bold"},
		"SourceSansPro-Light,Bold": {weight: boldWeight, bold: true, face: "sourcesans"},
	} {
		if got := fontStyle(name, 0); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}
