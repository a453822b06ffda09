package numeral

import (
	"strconv"
	"strings"
)

// eastAsian formats n in one of the East Asian formats. ok is false for other formats and for numbers that the format
// doesn't have: these are decimal.
func eastAsian(n int, format string) (text string, ok bool) {
	if n < 1 {
		return "", false
	}
	if signs, ok := digits[format]; ok {
		return positional(n, signs), true
	}
	if c, ok := countings[format]; ok && n <= maxCounting {
		return c.format(n), true
	}
	if s, ok := sequences[format]; ok {
		return s.format(n)
	}
	switch {
	case format == "chineseCounting", format == "taiwaneseCounting":
		if n < 100 {
			return countings["chineseCountingThousand"].format(n), true
		}
		return positional(n, "○一二三四五六七八九"), true
	case format == "ideographZodiacTraditional" && n <= 60: // a cycle of two cycles
		return sign(stems, (n-1)%10) + sign(branches, (n-1)%12), true
	case format == "koreanLegal" && n < 100:
		return koreanTens[n/10] + koreanOnes[n%10], true
	}
	return "", false
}

// digits has the signs, from zero, of the formats that write a number digit by digit.
var digits = map[string]string{
	"ideographDigital":           "〇一二三四五六七八九",
	"japaneseDigitalTenThousand": "〇一二三四五六七八九",
	"taiwaneseDigital":           "○一二三四五六七八九",
	"koreanDigital":              "영일이삼사오육칠팔구",
	"koreanDigital2":             "零一二三四五六七八九",
}

func positional(n int, signs string) string {
	var b strings.Builder
	for _, digit := range strconv.Itoa(n) {
		b.WriteString(sign(signs, int(digit-'0')))
	}
	return b.String()
}

// sign returns a sign of a text by its place.
func sign(signs string, at int) string { return string([]rune(signs)[at]) }

// maxCounting is the largest number that is counted in words; lists are shorter.
const maxCounting = 9999

// counting is a format that counts in tens, hundreds and thousands.
type counting struct {
	digits string // from zero
	units  string // ten, hundred, thousand
	bare   int    // numbers below it have no one before a unit: ten, not one ten
	zero   bool   // a zero represents the places that are skipped
}

var countings = map[string]counting{
	"chineseCountingThousand":   {"零一二三四五六七八九", "十百千", 20, true},
	"taiwaneseCountingThousand": {"零一二三四五六七八九", "十百千", 20, true},
	"chineseLegalSimplified":    {"零壹贰叁肆伍陆柒捌玖", "拾佰仟", 0, true},
	"ideographLegalTraditional": {"零壹貳參肆伍陸柒捌玖", "拾佰仟", 0, true},
	"japaneseCounting":          {"〇一二三四五六七八九", "十百千", maxCounting + 1, false},
	"japaneseLegal":             {"〇壱弐参四伍六七八九", "拾百阡", 0, false},
	"koreanCounting":            {"영일이삼사오육칠팔구", "십백천", maxCounting + 1, false},
}

func (c counting) format(n int) string {
	var b strings.Builder
	skipped := false
	for place, unit := 3, 1000; place >= 0; place, unit = place-1, unit/10 {
		digit := n / unit % 10
		if digit == 0 {
			skipped = b.Len() > 0
			continue
		}
		if skipped && c.zero {
			b.WriteString(sign(c.digits, 0))
		}
		skipped = false
		if digit > 1 || place == 0 || n >= c.bare {
			b.WriteString(sign(c.digits, digit))
		}
		if place > 0 {
			b.WriteString(sign(c.units, place-1))
		}
	}
	return b.String()
}

// after is how a sequence goes on after its last sign.
type after uint8

const (
	decimals after = iota // with decimal numbers
	again                 // from its first sign
	doubled               // with two of each sign, then three
)

// sequence is a format with one sign for each number.
type sequence struct {
	signs string
	after after
}

const (
	stems    = "甲乙丙丁戊己庚辛壬癸"
	branches = "子丑寅卯辰巳午未申酉戌亥"
	circled  = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
	// Signs of half width differ only in look.
	aiueo = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
	iroha = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
)

// sequences follow Word where it differs from the standard ([MS-OI29500] on 17.18.59): the Japanese alphabets begin again,
// and ideographEnclosedCircle has parentheses.
var sequences = map[string]sequence{
	"ideographTraditional":         {stems, decimals},
	"ideographZodiac":              {branches, decimals},
	"ideographEnclosedCircle":      {"㈠㈡㈢㈣㈤㈥㈦㈧㈨㈩", decimals},
	"decimalEnclosedCircle":        {circled, decimals},
	"decimalEnclosedCircleChinese": {circled, decimals},
	"decimalEnclosedFullstop":      {"⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛", decimals},
	"decimalEnclosedParen":         {"⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇", decimals},
	"aiueo":                        {aiueo, again},
	"aiueoFullWidth":               {aiueo, again},
	"iroha":                        {iroha, again},
	"irohaFullWidth":               {iroha, again},
	"ganada":                       {"가나다라마바사아자차카타파하", doubled},
	"chosung":                      {"ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ", doubled},
}

func (s sequence) format(n int) (text string, ok bool) {
	length := len([]rune(s.signs))
	times := (n-1)/length + 1
	switch {
	case times > 1 && s.after == decimals, times > maxRepeat:
		return "", false
	case s.after == again:
		times = 1
	}
	return strings.Repeat(sign(s.signs, (n-1)%length), times), true
}

var (
	koreanTens = []string{"", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"}
	koreanOnes = []string{"", "하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉"}
)
