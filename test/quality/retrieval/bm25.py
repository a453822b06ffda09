# Ranks the passages of a set by BM25 of bm25s (Lucene's variant, k1 1.2, b 0.75): words stemmed by Snowball where it has
# the language, pairs of characters for scripts without spaces. Prints the ids of the best ten for each question.
import json, re, sys
import bm25s, numpy, Stemmer

folder = sys.argv[1]
read = lambda name: [json.loads(line) for line in open(folder + "/" + name, encoding="utf-8") if line.strip()]
passages, questions = read("passages.jsonl"), read("questions.jsonl")
names = dict(ar="arabic", ca="catalan", da="danish", de="german", el="greek", en="english", es="spanish", fi="finnish",
             fr="french", hi="hindi", hu="hungarian", it="italian", nl="dutch", no="norwegian", pt="portuguese",
             ro="romanian", ru="russian", sv="swedish", tr="turkish")
name = names.get(passages[0].get("language"))
stemmer = Stemmer.Stemmer(name) if name in Stemmer.algorithms() else None
stop = set(bm25s.tokenization.STOPWORDS_EN) if name == "english" else set()
unspaced = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
# \w leaves out the vowel signs of Hindi, which are marks.
parts = re.compile(f"[{unspaced}]+|(?:(?![{unspaced}])[\\w\u0900-\u0963\u064b-\u0652])+")

def tokens(text):
    found = []
    for part in parts.findall(text.lower()):
        if re.match(f"[{unspaced}]", part):
            found += [part[i:i + 2] for i in range(max(1, len(part) - 1))]
        elif part not in stop:
            found.append(stemmer.stemWord(part) if stemmer else part)
    return found

ranker = bm25s.BM25(k1=1.2, b=0.75)
ranker.index([tokens(((p.get("title") or "") + " " + p["text"]).strip()) for p in passages], show_progress=False)
rankings = []
for question in questions:
    asked = [t for t in tokens(question["text"]) if t in ranker.vocab_dict]
    scores = ranker.get_scores(asked) if asked else numpy.zeros(len(passages))
    rankings.append([passages[i]["id"] for i in numpy.argsort(-scores, kind="stable")[:10] if scores[i] > 0])
json.dump(rankings, sys.stdout)
