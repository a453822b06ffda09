package pattern

import "regexp/syntax"

// Size returns about how many instructions an expression compiles to; a large class of characters counts as several.
// An expression from outside has to be measured before it is compiled: a repetition copies its operand up to a thousand
// times, so 3 KB can take 130 MB. The time of a match is proportional to it, too.
func Size(expression string) (int, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return size(parsed), nil
}

func size(re *syntax.Regexp) int {
	const ranges = 5 // of a class, in the memory of an instruction
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1 + len(re.Rune)/(2*ranges)
	}
	for _, sub := range re.Sub {
		n += 1 + size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}
