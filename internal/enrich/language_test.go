package enrich_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// samples are a few sentences in each of many languages.
var samples = map[string]string{
	"en": "The harbour was built in the last century, and most of the cranes that stand on its quays are older than " +
		"the people who work there.",
	"de": "Der Hafen wurde im letzten Jahrhundert gebaut, und die meisten Kräne, die auf seinen Kais stehen, sind " +
		"älter als die Menschen, die dort arbeiten.",
	"fr": "Le port a été construit au siècle dernier, et la plupart des grues qui se trouvent sur ses quais sont " +
		"plus vieilles que les gens qui y travaillent.",
	"es": "El puerto fue construido en el siglo pasado, y la mayoría de las grúas que hay en sus muelles son más " +
		"viejas que las personas que trabajan allí.",
	"ca": "El port es va construir el segle passat, i la majoria de les grues que hi ha als seus molls són més " +
		"velles que la gent que hi treballa amb això. Ningú no sap qui les va pagar, però encara funcionen molt bé. " +
		"Aquesta ciutat té una història llarga, i els seus habitants són orgullosos dels vaixells, dels mariners i " +
		"de la gent del barri.",
	"it": "Il porto è stato costruito nel secolo scorso, e la maggior parte delle gru che si trovano sulle sue " +
		"banchine sono più vecchie delle persone che vi lavorano.",
	"pt": "O porto foi construído no século passado, e a maioria dos guindastes que estão nos seus cais são mais " +
		"velhos do que as pessoas que lá trabalham.",
	"nl": "De haven werd in de vorige eeuw gebouwd, en de meeste kranen die op de kades staan zijn ouder dan de " +
		"mensen die er tegenwoordig werken. Niemand weet meer wie het allemaal heeft betaald, maar ze doen het nog " +
		"steeds.",
	"da": "Havnen blev bygget i det forrige århundrede, og de fleste af de kraner, der står på kajerne, er ældre " +
		"end de mennesker, som arbejder der nu.",
	"nb": "Havnen ble bygget i forrige århundre, og de fleste av kranene som står på kaiene er eldre enn menneskene " +
		"som arbeider der nå uten å vite noe om det.",
	"be": "Порт быў пабудаваны ў мінулым стагоддзі, і большасць кранаў, якія стаяць на яго прычалах, старэйшыя за " +
		"людзей, якія там працуюць кожны дзень.",
	"mk": "Пристаништето беше изградено во минатиот век, и повеќето кранови што стојат на кејовите се постари од " +
		"луѓето кои работат таму секој ден.",
	"bg": "Пристанището е построено през миналия век и повечето кранове, които стоят на кейовете му, са по-стари от " +
		"хората, които работят там. Това беше отдавна, но къщите още стоят.",
	"sv": "Hamnen byggdes under förra seklet, och de flesta kranar som står på dess kajer är äldre än människorna " +
		"som arbetar där på dagarna.",
	"pl": "Port został zbudowany w ubiegłym wieku, a większość dźwigów, które stoją na jego nabrzeżach, jest " +
		"starsza niż ludzie, którzy tam pracują.",
	"cs": "Přístav byl postaven v minulém století a většina jeřábů, které stojí na jeho nábřežích, je starší než " +
		"lidé, kteří tam dnes pracují.",
	"sk": "Prístav bol postavený v minulom storočí a väčšina žeriavov, ktoré stoja na jeho nábrežiach, je staršia " +
		"ako ľudia, ktorí tam dnes pracujú alebo bývajú.",
	"ru": "Порт был построен в прошлом веке, и большинство кранов, которые стоят на его причалах, старше людей, " +
		"которые там работают. Это было давно, и теперь никто не помнит, кто за них заплатил.",
	"uk": "Порт було збудовано в минулому столітті, і більшість кранів, які стоять на його причалах, старші за " +
		"людей, які там працюють.",
	"tr": "Liman geçen yüzyılda inşa edildi ve rıhtımlarında duran vinçlerin çoğu orada çalışan insanlardan daha " +
		"yaşlıdır ve hâlâ kullanılıyor.",
	"ar": "بني الميناء في القرن الماضي، ومعظم الرافعات التي تقف على أرصفته أقدم من الناس الذين يعملون هناك كل يوم.",
	"he": "הנמל נבנה במאה הקודמת, ורוב המנופים שעומדים על הרציפים שלו מבוגרים יותר מהאנשים שעובדים שם.",
	"ja": "港は前世紀に建設され、埠頭に立つクレーンのほとんどは、そこで働く人々よりも古いものです。",
	"zh": "港口建于上个世纪，码头上的大多数起重机都比在那里工作的人还要老。",
	"ko": "항구는 지난 세기에 건설되었으며 부두에 서 있는 크레인은 대부분 그곳에서 일하는 사람들보다 오래되었습니다.",
	"el": "Το λιμάνι χτίστηκε τον περασμένο αιώνα και οι περισσότεροι γερανοί είναι παλαιότεροι από τους ανθρώπους " +
		"που εργάζονται εκεί.",
	"hi": "बंदरगाह पिछली सदी में बनाया गया था और इसके घाटों पर खड़ी अधिकांश क्रेनें वहां काम करने वाले लोगों से " +
		"पुरानी हैं।",
	"th": "ท่าเรือถูกสร้างขึ้นในศตวรรษที่แล้ว และเครนส่วนใหญ่มีอายุมากกว่าคนที่ทำงานที่นั่น",
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for want, text := range samples {
		if got := enrich.Detect(text); got.Code != want || got.Confidence < 0.8 || got.Confidence > 1 {
			t.Errorf("%s: %+v", want, got)
		}
	}
	for what, text := range map[string]string{
		"nothing": "", "numbers": "1 234 567,89 12.03.2024 98 %", "a word": "Total", "names": "Smith, J. Müller",
		"an address":          "https://example.org/the/long/way/to/the/harbour/and/back",
		"letters":             "x y z a b c d e f g h i j k l m n o p q r s t u v w",
		"shorter than a line": "Der Hafen im Nebel",
	} {
		if got := enrich.Detect(text); got.Code != enrich.Unknown || got.Confidence != 0 {
			t.Errorf("%s: %+v, want it to be unsure", what, got)
		}
	}
	mixed := "製品 Kubernetes Docker PostgreSQL の設定方法について説明します。詳しくは公式の文書をご覧ください。"
	if got := enrich.Detect(mixed); got.Code != "ja" {
		t.Errorf("Japanese with Latin names: %+v", got)
	}
}

// detect runs chunks through a Collector.
func detect(declared string, contents ...string) enrich.Language {
	c := enrich.NewCollector()
	for i, content := range contents {
		c.Chunk(chunk.Chunk{Position: i, Content: content, Kind: chunk.Text})
	}
	return c.Finish(extract.Info{Language: declared}).Language
}

func TestDocumentLanguage(t *testing.T) {
	t.Parallel()
	if got := detect("en-US", samples["de"], samples["de"], "42"); got.Code != "de" || got.Stated ||
		len(got.Shares) != 0 || got.Confidence < 0.8 {
		t.Errorf("a template's language is not that of the text: %+v", got)
	}
	if got := detect("de_AT", samples["de"]); got.Code != "de-AT" || got.Stated {
		t.Errorf("a region that fits: %+v", got)
	}
	got := detect("", samples["en"], samples["en"], samples["en"], samples["fr"])
	if got.Code != "en" || len(got.Shares) != 2 || got.Shares[1].Language != "fr" || got.Shares[0].Share < 0.6 ||
		got.Confidence > 0.9 {
		t.Errorf("two languages: %+v", got)
	}
	if got := detect("fr-CA", "Total 12", "42 %"); got.Code != "fr-CA" || !got.Stated || got.Confidence != 0 {
		t.Errorf("no text to tell it from: %+v", got)
	}
	for _, nonsense := range []string{"", "und", "mul", "x-none", "klingonese!"} {
		if got := detect(nonsense, "Total 12"); got.Code != enrich.Unknown {
			t.Errorf("stated %q: %+v", nonsense, got)
		}
	}
	var cells []string // too short alone, but not together
	for range 3 {
		cells = append(cells, strings.Fields(samples["de"])...)
	}
	if got := detect("", cells...); got.Code != "de" {
		t.Errorf("many short chunks: %+v", got)
	}
	var labels []string // one passage doesn't decide the language of an otherwise undetermined document
	for range 300 {
		labels = append(labels, "Lot Qty Ref Mfg Std")
	}
	if got := detect("", append(labels, samples["de"])...); got.Code != enrich.Unknown {
		t.Errorf("one passage among labels: %+v", got)
	}
	c := enrich.NewCollector()
	c.Chunk(chunk.Chunk{Content: samples["en"], Kind: chunk.Code})
	if got := c.Finish(extract.Info{}).Language; got.Code != enrich.Unknown {
		t.Errorf("the comments of code: %+v", got)
	}
}
