package charset_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
)

// byLetters are texts whose letters show the encoding.
var byLetters = []struct{ label, text string }{
	{"windows-1250", "Nazwa;Województwo;Wartość\nSpółka;Łódzkie;0,50\nZakład;Śląskie;1,50\nŻegluga;Pomorskie;2,50\n"},
	{"iso-8859-2", "Najemca płaci czynsz do dziesiątego dnia miesiąca. Żuraw w porcie się spóźnił, więc wyładunek przełożono.\n"},
	{"windows-1250", "Nájemce platí nájemné do desátého dne v měsíci. Jeřáb v přístavu měl zpoždění, vykládka začne později.\n"},
	{"windows-1250", "Nájomca platí nájomné do desiateho dňa v mesiaci. Žeriav v prístave meškal, vykládka sa začne neskôr, ľahko.\n"},
	{"windows-1250", "A bérlő a hónap első napján fizeti a bérleti díjat. A kikötői daru késett, ezért a gyűjtés később kezdődik.\n"},
	{"windows-1250", "Chiriaşul plăteşte chiria până în a zecea zi a lunii. Macaraua din port a întârziat, descărcarea începe mâine.\n"},
	{"windows-1250", "Zakupac plaća najamninu do desetog dana u mjesecu. Dizalica u luci kasni, pa će iskrcaj početi sljedeći dan, još češće kasni; plaća će ići računom, kuća i vrć.\n"},
	{"windows-1254", "Şirketimizin yıllık raporu İstanbul şubesinde hazırlanmıştır. Çalışanların ücretleri artırılmıştır.\n"},
	{"windows-1254", strings.Repeat("Şube; Müşteri; Görüşme; Işık; Ağır\n", 4)},
	{"windows-1250", strings.Repeat("Kovačević; Marković; Babić; Jurić; Novaković\n", 3)},
	{"windows-1250", "pięć, sześć, dziewięć, dziesięć, jedenaście, pięćdziesiąt, sześćdziesiąt\n"},
	{"windows-1257", "Rīga; Liepāja; Jelgava; Jūrmala; Rēzekne; Valmiera; Jēkabpils; Kuldīga; Cēsis; Līvāni; Ādaži; Alūksne; Krāslava\n"},
	{"windows-1257", strings.Repeat("Līga Kalniņa\nInese Ozoliņa\nKristīne Bērziņa\n", 3)},
	{"windows-1256", "يجب على المستأجر دفع الإيجار في اليوم الأول من كل شهر. هذا العقد ملزم للطرفين وفق القانون.\n"},
	{"windows-1257", "Nuomininkas moka nuomą iki dešimtos mėnesio dienos. Kranas uoste vėlavo, todėl iškrovimas prasidės vėliau, šį rytą.\n"},
	{"windows-1257", "Īrnieks maksā īri līdz mēneša desmitajai dienai. Celtnis ostā kavējās, tāpēc izkraušana sāksies vēlāk, rīt no rīta.\n"},

	// Languages that windows-1252 has.
	{"windows-1252", "Grüße aus München, die Kräne müssen größer werden: 5 m³ je Stunde, „§ 3 Abs. 2“, Herr Škoda zahlt für Øl 100 €.\n"},
	{"windows-1252", "Ceci était très tôt, à l’été. Où êtes-vous, garçon? Ça m’énerve, cœur naïf, 12 m², 3 ¿ et « bœuf ».\n"},
	{"windows-1252", "El niño pagó más. ¿Cuándo? ¡Mañana! La grúa del puerto se retrasó, según el señor Núñez, la 1ª vez.\n"},
	{"windows-1252", "Lejeren betaler på den første dag. Kranen på havnen er forsinket, så læsningen går i gang i næste måned.\n"},
	{"windows-1252", "Leigjandi greiðir leigu fyrsta dag hvers mánaðar. Þetta er í höfninni, það býr þar fólk. Ýmsir þættir, æðri.\n"},
	{"windows-1252", "O locatário paga até o décimo dia do mês. As opções não são três, avó à praça, após a reunião de março.\n"},
	{"windows-1252", "Üürnik maksab üüri kümnendaks päevaks. Sadama kraana jäi hiljaks, laadimine algab õhtul, žürii, šokk.\n"},
	{"windows-1252", strings.Repeat("During El Niño years the rain fails. ", 12)},
	{"windows-1252", strings.Repeat("MUÑOZ PEREZ;LOGROÑO\n", 6)},
	{"windows-1252", strings.Repeat("Naïve Bayes. ", 12)},
	{"windows-1252", strings.Repeat("Cæsar. ", 12)},
	{"windows-1252", strings.Repeat("François Benoît;12,50\n", 6)},
	{"windows-1252", strings.Repeat("Nîmes\nBesançon\nLoïc; Château\n", 6)},
	{"windows-1252", strings.Repeat("Behind the façade of the château was a naïve maître d'. ", 6)},
	{"windows-1252", strings.Repeat("Un cœur, une fête. ", 12)},
	{"windows-1252", strings.Repeat("când înceteaza ", 12)}, // Romanian that was saved without its other letters
	{"windows-1252", strings.Repeat("An œdema. ", 12)},
	{"windows-1252", strings.Repeat("\u00a0\u00a0\u00a0\u00a0Grüße an alle.\n", 10)},
	{"windows-1252", strings.Repeat("————————————\nHello, Müller\n", 3)},
	{"windows-1252", strings.Repeat("•••••••• Title ••••••••\n", 3)},
	{"windows-1252", "Gruß an Søren, François, Núñez, João, Þór, Ångström, Müller und Château.\n"},
}

func TestByLetters(t *testing.T) {
	t.Parallel()
	for _, tt := range byLetters {
		got, name, warnings := open(t, encoded(t, tt.label, tt.text))
		if got != tt.text || string(name) != tt.label || len(warnings) > 0 {
			t.Errorf("%s read as %s: %q, warnings %q", tt.label, name, got, warnings)
		}
	}
}

// TestDoubt: a text that is hardly what it was read as has a warning.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ label, text string }{
		{"macintosh", "Les élèves étaient très gênés à la fête, où le goûter était déjà fini, hélas; la forêt, où, çà et là.\n"},
		{"iso-8859-3", "Ĉiuj ŝanĝoj de la ĵurnalo aperos ĉi tie, ĝis ĉio estos ŝanĝita; la aŭtoro ĝojas pri la leĝo kaj reĝo, naŭ ĥoroj, aĵo, eĥoŝanĝo ĉiuĵaŭde.\n"},
		{"windows-1251", "Склад № 5, кран № 3\n"},
	} {
		_, name, warnings := open(t, encoded(t, tt.label, tt.text))
		if name != charset.Windows1252 || len(warnings) != 1 || warnings[0] != charset.Doubt {
			t.Errorf("%s read as %s: warnings %q, want %q", tt.label, name, warnings, charset.Doubt)
		}
	}
}

func open(t *testing.T, file []byte) (string, charset.Name, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	r, name, warnings, err := charset.OpenWarned(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(got), name, warnings
}
