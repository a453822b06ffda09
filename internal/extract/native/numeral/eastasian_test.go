package numeral_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/numeral"
)

func TestEastAsian(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]map[int]string{
		"chineseCounting":            {1: "一", 10: "十", 11: "十一", 20: "二十", 99: "九十九", 100: "一○○", 105: "一○五"},
		"taiwaneseCounting":          {10: "十", 21: "二十一", 100: "一○○"},
		"chineseCountingThousand":    {3: "三", 10: "十", 19: "十九", 100: "一百", 101: "一百零一", 110: "一百一十", 1010: "一千零一十", 1001: "一千零一"},
		"taiwaneseCountingThousand":  {12: "十二", 101: "一百零一"},
		"chineseLegalSimplified":     {1: "壹", 2: "贰", 10: "壹拾", 25: "贰拾伍"},
		"ideographLegalTraditional":  {2: "貳", 3: "參", 10: "壹拾"},
		"japaneseCounting":           {7: "七", 10: "十", 100: "百", 111: "百十一", 1000: "千", 2024: "二千二十四", 10_000: "10000"},
		"japaneseLegal":              {1: "壱", 10: "壱拾", 23: "弐拾参"},
		"koreanCounting":             {1: "일", 10: "십", 11: "십일", 20: "이십", 100: "백", 320: "삼백이십"},
		"koreanLegal":                {1: "하나", 10: "열", 21: "스물하나", 99: "아흔아홉", 100: "100"},
		"koreanDigital":              {1: "일", 10: "일영", 23: "이삼"},
		"koreanDigital2":             {10: "一零"},
		"ideographDigital":           {1: "一", 10: "一〇", 100: "一〇〇"},
		"japaneseDigitalTenThousand": {12: "一二", 10_000: "一〇〇〇〇"},
		"taiwaneseDigital":           {20: "二○"},
		"ideographTraditional":       {1: "甲", 10: "癸", 11: "11"},
		"ideographZodiac":            {1: "子", 12: "亥", 13: "13"},
		"ideographZodiacTraditional": {1: "甲子", 11: "甲戌", 60: "癸亥", 61: "61"},
		"ideographEnclosedCircle":    {1: "㈠", 10: "㈩", 11: "11"},
		"decimalEnclosedCircle":      {1: "①", 20: "⑳", 21: "21"},
		"decimalEnclosedParen":       {2: "⑵"},
		"decimalEnclosedFullstop":    {20: "⒛"},
		"aiueoFullWidth":             {1: "ア", 6: "カ", 46: "ン", 47: "ア"},
		"irohaFullWidth":             {1: "イ", 2: "ロ", 48: "ン", 49: "イ"},
		"ganada":                     {1: "가", 14: "하", 15: "가가", 1_000_000: "1000000"},
		"chosung":                    {2: "ㄴ", 16: "ㄴㄴ"},
		"decimalFullWidth":           {12: "12"},
	} {
		for n, text := range want {
			if got := numeral.Format(n, format); got != text {
				t.Errorf("%d in %s: got %s, want %s", n, format, got, text)
			}
		}
		for _, n := range []int{0, -1} {
			if got, want := numeral.Format(n, format), numeral.Format(n, "decimal"); got != want {
				t.Errorf("%d in %s: got %s, want %s", n, format, got, want)
			}
		}
	}
}
