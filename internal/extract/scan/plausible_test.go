package scan

import (
	"strings"
	"testing"
)

// Natural text of many languages, tables, code and formulas is plausible; the results of wrong encodings and
// poor OCR are not.
func TestPlausibility(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"english": "The harbour master keeps a record of every ship that enters or leaves the port, with the hour " +
			"and the name of its captain.",
		"german": "Der Angstschweiß stand ihm auf der Stirn, als die Rechtsschutzversicherung das Schreiben vom " +
			"3. März 2021 zurückschickte.",
		"french": "L'après-midi, les élèves s'en vont à la bibliothèque où l'on garde les œuvres d'autrefois " +
			"jusqu'à aujourd'hui.",
		"polish": "W Szczebrzeszynie chrząszcz brzmi w trzcinie i Szczebrzeszyn z tego słynie, a źdźbło trawy " +
			"drży na wietrze.",
		"czech": "Strč prst skrz krk, řekl čtvrtý hlas, a vlk zmlkl, protože přišel strážmistr s velkým psem na " +
			"vodítku.",
		"finnish": "Hääyöaieuutinen levisi kaupungilla nopeasti, ja kaikki halusivat tietää siitä lisää jo " +
			"seuraavana aamuna.",
		"turkish": "Çekoslovakyalılaştıramadıklarımızdan mısınız diye sordu yaşlı adam ve pencereyi yavaşça kapattı.",
		"vietnam": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi, họ được phú " +
			"cho lý trí.",
		"greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα και είναι " +
			"προικισμένοι.",
		"russian": "Все люди рождаются свободными и равными в своём достоинстве и правах, они наделены разумом и " +
			"совестью.",
		"arabic":   "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا",
		"hebrew":   "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם כולם חוננו בתבונה ובמצפון לפיכך חובה עליהם",
		"hindi":    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है",
		"chinese":  "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
		"japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。TOKYOで開催。",
		"capitals": "QUARTERLY REPORT OF THE BOARD OF DIRECTORS CONCERNING THE FINANCIAL YEAR AND ITS RESULTS " +
			"BEFORE TAXES",
		"table": "Q1 Q2 Q3 FY23 EUR 1,200.50 USD Net sales EBITDA margin 12.5 % R&D SG&A capex 3.4x pcs kg mm",
		"code": "func (r *Reader) Read(p []byte) (n int, err error) { if r.err != nil { return 0, r.readErr() } " +
			"return len(p), nil }",
		"formula": "Let f ( x ) = a x + b where α and β are reals such that f is continuous on the interval and x ∈ " +
			"R holds",
		"names": "LaTeX and PostScript at GitHub, McDonald and O'Brien use PowerPoint and YouTube with JavaScript " +
			"daily",
		"letters": "see https://example.org/a1b2/c3?d=e4 or write to someone@example.org, order no. AB12CD34 and " +
			"file C:\\x\\y2z.txt",
	} {
		if p := plausibility(strings.Fields(text)); p < 0.75 {
			t.Errorf("%s: %.2f", name, p)
		}
	}
	for name, text := range map[string]string{
		"shifted codes": `7KH KDUERXU PDVWHU NHHSV D UHFRUG RI HYHU\ VKLS WKDW HQWHUV RU OHDYHV WKH SRUW ZLWK WKH KRXU DQG WKH QDPH`,
		"shifted small": "Uif ibscpvs nbtufs lffqt b sfdpse pg fwfsz tijq uibu foufst ps mfbwft uif qpsu xjui uif " +
			"ipvs boe uif obnf",
		"replacements": "T\uFFFDe h\uFFFDrb\uFFFDur m\uFFFDster k\uFFFD\uFFFDps a r\uFFFDc\uFFFDrd of \uFFFDvery " +
			"sh\uFFFDp th\uFFFDt ent\uFFFDrs",
		"private": "\uE001\uE002\uE003 \uE004\uE005\uE006 \uE007\uE008 harbour \uE009\uE00A\uE00B\uE00C and " +
			"the master of it \uE00D\uE00E",
		"poor ocr": "Tlie h4rb0ur rna5ter k€eps ;i rec0rd of ev3ry sh!p tli@t ent3rs 0r le4ves thc p0rt w!tli " +
			"t|ie h0ur anrl tbe n4me",
		"spaced out": "T h e h a r b o u r m a s t e r k e e p s a r e c o r d o f e v e r y s h i p t h a t e n " +
			"t e r s",
		"mixed scripts": "Тhе hаrbоur mаstеr kееps а rесоrd оf еvеry shіp thаt еntеrs оr lеаvеs thе pоrt wіth thе hоur",
		"consonants": "wrtzp sdfgh jklmn bvcxz qwrtp lkjhg fdspm nbvcx rtzpl sdkfj wlkrt zxcvb nmlkj hgfds pqwrt " +
			"zmxnc",
	} {
		if p := plausibility(strings.Fields(text)); p > 0.6 {
			t.Errorf("%s: %.2f", name, p)
		}
	}
	if p := plausibility([]string{"xkcd"}); p != 1 {
		t.Errorf("too little to tell: %.2f", p)
	}
}
