package extract

import "strconv"

// ValueKind is what a cell of a spreadsheet holds.
type ValueKind uint8

// The kinds of values.
const (
	NoValue ValueKind = iota
	TextValue
	NumberValue
	DateValue
)

// Value is a cell of a spreadsheet, for PeriodHeader.
type Value struct {
	Column int // from 0, the first of the table
	Kind   ValueKind
	Text   string
}

// ComparedRows is how many rows below the first PeriodHeader looks at.
const ComparedRows = 20

// PeriodHeader reports whether the first row of a table names periods above amounts, such as Port, 2021, 2022: a header
// although it has numbers. Its numbers are years in their order, or dates, at least two. They are not in the first
// column, as in a time series, and most values below them are others, unlike the years in a list of people.
func PeriodHeader(rows [][]Value) bool {
	if len(rows) < 2 {
		return false
	}
	kind, columns := periods(rows[0])
	if len(columns) < 2 {
		return false
	}
	same, others := 0, 0
	for _, row := range rows[1:min(len(rows), ComparedRows+1)] {
		for _, v := range row {
			switch {
			case v.Kind == NoValue || !columns[v.Column]:
			case v.Kind == kind && v.isPeriod():
				same++
			default:
				others++
			}
		}
	}
	return others > same
}

// periods returns the columns of a row that have periods, all of one kind. There are none if the row has other numbers.
func periods(row []Value) (kind ValueKind, columns map[int]bool) {
	columns = map[int]bool{}
	var years []int
	for _, v := range row {
		if v.Kind == NoValue || v.Kind == TextValue {
			continue
		}
		if v.Column == 0 || kind != NoValue && v.Kind != kind || !v.isPeriod() {
			return NoValue, nil
		}
		kind, columns[v.Column] = v.Kind, true
		years = append(years, v.year())
	}
	if kind == NumberValue && !inOrder(years) {
		return NoValue, nil
	}
	return kind, columns
}

func (v Value) isPeriod() bool { return v.Kind == DateValue || v.Kind == NumberValue && v.year() != 0 }

// year returns the year that a text is, or 0.
func (v Value) year() int {
	year, err := strconv.Atoi(v.Text)
	if err != nil || len(v.Text) != 4 || year < 1900 || year > 2100 {
		return 0
	}
	return year
}

// inOrder reports whether numbers rise or fall from each to the next.
func inOrder(numbers []int) bool {
	for i := 1; i < len(numbers); i++ {
		if step := numbers[i] - numbers[i-1]; step == 0 || (step > 0) != (numbers[1] > numbers[0]) {
			return false
		}
	}
	return true
}
