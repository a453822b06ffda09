package pdf

import "golang.org/x/text/unicode/norm"

// ideographs are the characters for which fonts of Chinese and Japanese use the same glyph as for a radical
// (Unicode's Equivalent_Unified_Ideograph of CJK Radicals Supplement, where the ideograph is a word of its own).
var ideographs = map[rune]rune{
	'\u2E9F': '母', '\u2EA0': '民', '\u2EC1': '虎', '\u2EC4': '西', '\u2EC5': '见', '\u2EC6': '角', '\u2EC9': '贝',
	'\u2ECB': '车', '\u2ED1': '長', '\u2ED3': '长', '\u2ED4': '门', '\u2ED7': '雨', '\u2ED8': '青', '\u2ED9': '韦',
	'\u2EDA': '页', '\u2EDB': '风', '\u2EDC': '飞', '\u2EDD': '食', '\u2EE2': '马', '\u2EE3': '骨', '\u2EE4': '鬼',
	'\u2EE5': '鱼', '\u2EE6': '鸟', '\u2EE7': '卤', '\u2EE8': '麦', '\u2EE9': '黄', '\u2EEA': '黾', '\u2EEB': '斉',
	'\u2EEC': '齐', '\u2EED': '歯', '\u2EEE': '齿', '\u2EEF': '竜', '\u2EF0': '龙', '\u2EF1': '龜', '\u2EF2': '亀',
	'\u2EF3': '龟',
}

// isRadical reports whether r is in one of the blocks of Unicode for radicals.
func isRadical(r rune) bool { return r >= '\u2E80' && r <= '\u2FD5' }

// ideograph returns the character that a radical stands for. Programs that make PDFs know only the glyph, and name the
// first character that the font draws with it: many have 見 and 長 of running text as the radicals \u2F92 and \u2ED1, which
// neither a search nor a model takes for them.
func ideograph(r rune) rune {
	if to := ideographs[r]; to != 0 {
		return to
	}
	for _, to := range norm.NFKC.String(string(r)) {
		return to
	}
	return r
}
