package pdf_test

import (
	"strings"
	"testing"
)

// amount writes a number that ends at x, in Helvetica.
func (m *maker) amount(x, y float64, s string) *maker {
	width := 0.0
	for _, r := range s {
		switch r {
		case ',', '.':
			width += 2.78
		case '(', ')':
			width += 3.33
		default:
			width += 5.56
		}
	}
	return m.text(x-width, y, regular, 10, s)
}

// statement writes the rows of a financial statement, "label|amount|amount" from y on, 15 points apart. The sign of an
// amount "$1" is at the left edge of its column, which is close to the amounts of the column before.
func (m *maker) statement(y float64, ends []float64, rows ...string) float64 {
	for _, row := range rows {
		cells := strings.Split(row, "|")
		m.text(72, y, regular, 10, cells[0])
		for i, c := range cells[1:] {
			if number, sign := strings.CutPrefix(c, "$"); sign {
				m.text(ends[i]-54, y, regular, 10, "$")
				m.amount(ends[i], y, number)
			} else if c != "" {
				m.amount(ends[i], y, c)
			}
		}
		y += 15
	}
	return y
}

// The signs of currencies are no columns, and the lines below sums frame no tables of their own.
func TestBalanceSheet(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	ends := []float64{380, 440, 500, 560}
	y := m.statement(
		100, ends, "Cash and cash equivalents|$28,408|$23,646|$9,101|$8,150", "Inventories|7,351|4,946|12|9",
		"Other current assets|13,640|21,223|(3)|7", "Total current assets|49,399|49,815|9,110|8,166",
		"Property and equipment|43,550|42,117|-|15", "Total assets|$92,949|$91,932|$9,110|$8,181",
	)
	for _, end := range ends {
		for _, line := range []float64{y - 58, y - 43, y - 28, y - 13, y - 11} {
			m.rule(end-54, line, end-46, line).rule(end-46, line, end, line)
		}
	}
	assertBlocks(t, m, "table 0 Cash and cash equivalents|$ 28,408|$ 23,646|$ 9,101|$ 8,150 / Inventories|7,351|4,946|12|9 / "+
		"Other current assets|13,640|21,223|(3)|7 / Total current assets|49,399|49,815|9,110|8,166 / "+
		"Property and equipment|43,550|42,117|-|15 / Total assets|$ 92,949|$ 91,932|$ 9,110|$ 8,181")
}

// Rows in a colour whose cells are painted one by one.
func TestStatementWithPaintedCells(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	ends := []float64{380, 460}
	for i := range 3 {
		top := 89 + 30*float64(i)
		m.area(70, top, 300, top+15)
		for _, end := range ends {
			m.area(end-56, top, end-46, top+15).area(end-46, top, end+2, top+15)
		}
	}
	m.statement(100, ends, "Product revenue|$19,881|$19,442", "Service revenue|852|1,548", "Cost of products|(340)|(315)",
		"Cost of services|58|95", "Operating income|20,451|20,770", "Net income|$19,826|$16,639")
	assertBlocks(t, m, "table 0 Product revenue|$ 19,881|$ 19,442 / Service revenue|852|1,548 / Cost of products|(340)|(315) / "+
		"Cost of services|58|95 / Operating income|20,451|20,770 / Net income|$ 19,826|$ 16,639")
}

// Heads over two columns, and heads of years that nearly touch, hide no columns; nor does a note below the table.
func TestStatementHeadAndNotes(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	ends := []float64{330, 390, 470, 530}
	m.text(290, 85, regular, 10, "Three Months Ended").text(430, 85, regular, 10, "Nine Months Ended")
	for i, head := range []string{"July 1,", "June 25,", "July 1,", "June 25,"} {
		m.text(ends[i]-[]float64{32, 53}[i%2], 100, regular, 10, head)
	}
	m.statement(115, ends, "Net sales|$6,875|$5,862|$13,144|$12,263", "Operating profit|718|613|1,393|1,292",
		"Other income|12|9|25|30")
	m.text(72, 162, regular, 8, "1")
	m.text(90, 162, regular, 8, "Net sales include the net gains of the company's early investments in ventures "+
		"of the years before this report, less their taxes.")
	assertBlocks(t, m, "table 1 |Three Months Ended|Nine Months Ended / |July 1,|June 25,|July 1,|June 25, / "+
		"Net sales|$ 6,875|$ 5,862|$ 13,144|$ 12,263 / Operating profit|718|613|1,393|1,292 / Other income|12|9|25|30",
		"paragraph 1 Net sales include the net gains of the company's early investments in ventures of the years before this "+
			"report, less their taxes.")
}

// Labels and amounts that are written one after the other are still rows.
func TestAmountsAreNoColumnOfText(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	labels := []string{
		"Balance at the beginning of the period", "Issuance of stock to all the employees",
		"Repurchases of stock from the market", "Balance at the end of the same period",
	}
	m.lines(72, 100, 15, regular, 10, labels...)
	for _, end := range []float64{350, 410, 470, 530} {
		for i, amount := range []string{"11,069", "167", "(405)", "10,831"} {
			m.amount(end, 100+15*float64(i), amount)
		}
	}
	assertBlocks(
		t, m, "table 0 "+labels[0]+"|11,069|11,069|11,069|11,069 / "+labels[1]+"|167|167|167|167 / "+
			labels[2]+"|(405)|(405)|(405)|(405) / "+labels[3]+"|10,831|10,831|10,831|10,831",
	)
}

// A number in parentheses is no item of a list if it is negative or an area code.
func TestNumbersInParentheses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"(512) 516-8177":              "paragraph (512) 516-8177",
		"(512) 516-8177 by telephone": "paragraph (512) 516-8177 by telephone",
		"(08) 9380.1234":              "paragraph (08) 9380.1234",
		"(36) 12 (7)":                 "paragraph (36) 12 (7)",
		"(591) $":                     "paragraph (591) $",
		"(2019) was the year":         "paragraph (2019) was the year",
		"(425) higher expenses":       "paragraph (425) higher expenses",
		"(4) the fourth of them":      "item 0 (4) the fourth of them",
		"(1) 120 of them":             "item 0 (1) 120 of them",
		"150. A rocket is fired":      "item 0 150. A rocket is fired",
	} {
		m := (&maker{}).page().text(72, 100, regular, 10, text)
		if got := blocksOf(extracted(t, m)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

// A list goes on over a hundred.
func TestLongList(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	for i, mark := range []string{"(99)", "(100)", "(101)"} {
		m.text(72, 100+30*float64(i), regular, 10, mark+" the next of many duties")
	}
	assertBlocks(t, m, "item 0 (99) the next of many duties", "item 0 (100) the next of many duties",
		"item 0 (101) the next of many duties")
}
