package charset_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	webcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
)

func encoded(t *testing.T, label, text string) []byte {
	t.Helper()
	e, _ := webcharset.Lookup(label)
	if label == "ibm1047" {
		e = charmap.CodePage1047
		text = strings.ReplaceAll(text, "\n", "\u0085")
	}
	b, err := encoding.ReplaceUnsupported(e.NewEncoder()).Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var texts = []struct{ label, text string }{
	{"ibm866", "Договор поставки № 5\nПоставщик обязуется передать товар в срок, а покупатель принять его.\n"},
	{"windows-1251", "Это проверка кодировки текста в старом файле. Склад номер пять закрыт.\n"},
	{"koi8-r", "Это проверка кодировки текста в старом файле. Склад номер пять закрыт.\n"},
	{"shift_jis", "これはテストです。港のクレーンは遅れています。明日の朝に到着する予定です。\n"},
	{"euc-jp", "これはテストです。港のクレーンは遅れています。明日の朝に到着する予定です。\n"},
	{"iso-2022-jp", "これはテストです。港のクレーンは遅れています。明日の朝に到着する予定です。\n"},
	{"gb18030", "这是一个测试。港口的起重机晚点了，预计明天早上到达。请通知所有部门。\n"},
	{"big5", "這是一個測試。港口的起重機晚點了，預計明天早上到達。請通知所有部門。\n"},
	{"euc-kr", "이것은 시험입니다. 항구의 크레인이 늦었습니다. 내일 아침에 도착할 예정입니다.\n"},
	{"windows-1253", "Αυτό είναι μια δοκιμή. Ο γερανός του λιμανιού καθυστέρησε και θα φτάσει αύριο.\n"},
	{"windows-1255", "זוהי בדיקה של קידוד הטקסט. המנוף של הנמל מאחר ויגיע מחר בבוקר.\n"},
	{"ibm1047", "IDENTIFICATION DIVISION.\nThe crane number 17 was late, and the ferry left at 10:45.\n"},
	// Latin letters stay as they were.
	{"windows-1252", "Grüße aus München, die Kräne im Hafen müssen größer werden – für 100 €.\n"},
	{"windows-1252", "Ceci était très tôt, à l’été. Où êtes-vous, garçon? Ça m’énerve déjà énormément.\n"},
	{"windows-1252", "ÄÖÜ äöü ß ÄÖÜ äöü ß é è ê\n"},
	{"utf-8", "Это проверка. Grüße. これはテストです。\n"},
	{"shift_jis", "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n"}, // little text
}

func TestDetected(t *testing.T) {
	t.Parallel()
	for _, tt := range texts {
		t.Run(tt.label, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, encoded(t, tt.label, tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, name, err := charset.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if err != nil || string(got) != tt.text {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
			if start := charset.Decode(encoded(t, tt.label, tt.text)); start != tt.text {
				t.Errorf("the start: %q", start)
			}
		})
	}
}

// A label that the text contradicts doesn't count; one that may be right does.
func TestLabelled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ is, label, text string }{
		{"windows-1251", "iso-8859-1", texts[1].text},
		{"koi8-r", "windows-1251", texts[2].text},
		{"utf-8", "iso-8859-1", "Grüße aus München"},
		{"utf-8", "shift_jis", texts[15].text},
		{"windows-1251", "windows-1251", "Да"},
		{"windows-1250", "windows-1250", "Zażółć gęślą jaźń"},
		{"iso-8859-15", "iso-8859-15", "10 €"},
		{"gbk", "gbk", texts[6].text},
		{"big5", "big5", texts[7].text},
	} {
		r, decoded := charset.Labelled(strings.NewReader(string(encoded(t, tt.is, tt.text))), tt.label)
		if got, err := io.ReadAll(r); err != nil || string(got) != tt.text || !decoded {
			t.Errorf("%s labelled %s: got %q, %v, %v", tt.is, tt.label, got, decoded, err)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, tt := range texts {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		charset.Detect(text)
		charset.Decode(text)
	})
}
