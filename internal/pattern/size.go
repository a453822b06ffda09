package pattern

import "regexp/syntax"

// Size returns about how many instructions an expression compiles to; a large class of characters counts as several, once.
// An expression from outside has to be measured before it is compiled: a repetition copies its operand up to a thousand
// times, so 3 KB can take 130 MB. The time of a match is proportional to it, too.
func Size(expression string) (int, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return 0, err
	}
	instructions, classes := size(parsed)
	return instructions + classes, nil
}

// size returns the instructions, and the memory of the classes in instructions: copies of a class share its ranges.
func size(re *syntax.Regexp) (instructions, classes int) {
	const ranges = 5 // of a class, in the memory of an instruction
	instructions = 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		instructions, classes = 1, len(re.Rune)/(2*ranges)
	}
	within := 0
	for _, sub := range re.Sub {
		n, c := size(sub)
		within, classes = within+n, classes+c
	}
	if re.Op == syntax.OpRepeat {
		if re.Min != re.Max {
			within++ // a copy may be left out
		}
		within *= max(re.Min, re.Max, 1)
	}
	return instructions + within, classes
}
