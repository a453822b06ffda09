package pdf_test

import "testing"

// The authors and the date between a title and its text are no headings, however large.
func TestBylinesBelowTheTitle(t *testing.T) {
	t.Parallel()
	for _, byline := range []string{
		"Ada Reinholdsen 1 , Bo Lind 1,2 , Carla Moreno * and Dag Vik 2", "Ada Reinholdsen and Bo van der Lind",
		"ADA REINHOLDSEN, BO LIND", "J. P. Moreno, D. Vik", "March 2021", "12. M\u00e4rz 2021", "October 14, 1998", "2021-03-12",
	} {
		m := (&maker{}).page().text(72, 60, regular, 17, "On Harbours and Cranes").text(72, 90, regular, 12, byline)
		m.text(72, 130, bold, 12, "Abstract")
		m.lines(72, 150, 12, regular, 10, fullLine, fullLine, nextLine)
		m.text(72, 210, bold, 12, "Ship Handling and Quay Works")
		m.lines(72, 230, 12, regular, 10, fullLine, nextLine)
		assertBlocks(t, m, "heading 1 On Harbours and Cranes", "paragraph "+byline, "heading 2 Abstract",
			"paragraph "+fullLine+" "+fullLine+" "+nextLine, "heading 2 Ship Handling and Quay Works",
			"paragraph "+fullLine+" "+nextLine)
	}
	m := (&maker{}).page().text(72, 60, regular, 17, "On Harbours").text(72, 90, regular, 12, "Annual Report 2021")
	m.lines(72, 150, 12, regular, 10, fullLine, nextLine)
	assertBlocks(t, m, "heading 1 On Harbours", "heading 2 Annual Report 2021", "paragraph "+fullLine+" "+nextLine)
}

// Names below each other on a cover are no headings; the lines of a subtitle are one.
func TestNamesBelowEachOther(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 24, "On Harbours and Cranes")
	m.lines(72, 120, 14, bold, 13, "Implement roles and separation", "of duties")
	m.lines(72, 300, 14, bold, 12, "Ada Reinholdsen", "Bo van der Lind", "Carla M. Moreno")
	m.lines(72, 400, 14, bold, 12, "Dag Vik", "Eva Strand", "Finn Berg", "Gro Holm")
	m.page().text(72, 60, bold, 14, "Cranes")
	m.lines(72, 90, 12, regular, 10, fullLine, fullLine, nextLine)
	assertBlocks(t, m, "heading 1 On Harbours and Cranes", "heading 2 Implement roles and separation of duties",
		"paragraph Ada Reinholdsen Bo van der Lind Carla M. Moreno", "paragraph Dag Vik Eva Strand Finn Berg Gro Holm",
		"heading 2 Cranes", "paragraph "+fullLine+" "+fullLine+" "+nextLine)
}

// Most lines of an invoice may be larger than its small print: these are no headings.
func TestTextAboveSmallPrint(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 60, bold, 18, "Quay Repairs")
	want := []string{"heading 1 Quay Repairs"}
	for i, l := range []string{
		"Insured by the Harbour Mutual", "Claim of the fourth of March", "Policy of the northern quay", "Model of the larger crane",
		"Estimate of all the parts", "Estimate of all the hours", "Odometer as it was read", "Colour as it was before", "Rate of a working hour",
		"Rate of a working day", "Hours of the second shift",
	} {
		m.text(72, 100+30*float64(i), regular, 9.5, l)
		want = append(want, "paragraph "+l)
	}
	m.lines(72, 480, 9, italic, 8, fullLine, fullLine, fullLine, nextLine)
	assertBlocks(t, m, append(want, "paragraph "+fullLine+" "+fullLine+" "+fullLine+" "+nextLine)...)
}
