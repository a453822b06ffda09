package structure

// language is the text that documents in a language are made of. %d is replaced by a number.
type language struct {
	titles    []string // of documents
	headings  []string
	leads     []string // bold beginnings of paragraphs
	sentences []string
	items     []string // of lists
	columns   []string // heads of columns
	rows      []string // names of rows
	names     []string // of persons
	dated     []string // sentences with dates, amounts and foreign words
	captions  []string // the names of tables and of figures, by number
	space     string   // between two sentences
	comma     string
}

var languages = map[string]language{
	"en": {
		titles: []string{"Annual report on water quality", "Manual for the harbour pumps", "Study of mountain roads"},
		headings: []string{
			"Scope", "Methods of measurement", "Results", "Discussion", "Safety", "Maintenance plan",
			"Legal basis", "Staff and training", "Costs", "Open questions", "Sampling sites", "Equipment",
			"History of the site", "Quality assurance", "Outlook", "Data protection",
		},
		leads: []string{
			"Line 4a.", "Exceptions.", "Note:", "Who must file.", "Deadline.", "Warning!", "Part-year residents.",
			"Amounts received.",
		},
		sentences: []string{
			"The laboratory examined %d samples from the eastern basin during the summer.",
			"Most of the values remained below the limit that the agency had published.",
			"A second team repeated the measurement after %d hours with the same instrument.",
			"The difference between both readings is smaller than the error of the method.",
			"Heavy rain in the last week of March carried sand and clay into the lower lake.",
			"Operators close the valve before they remove the cover of the filter.",
			"The old pipes were replaced in %d, and no leak has been reported since.",
			"It is not known why the concentration of nitrate rises again in autumn.",
			"Visitors may enter the hall only together with a member of the staff.",
			"The report describes the methods first and lists all results in the annex.",
			"Each pump is inspected once a year, and its hours of work are written down.",
			"Income from the sale of the land has to be reported in the year of the sale.",
		},
		items: []string{
			"gloves and safety goggles", "a bottle of distilled water", "the signed permit", "two spare fuses",
			"a copy of the floor plan", "keys to the upper gate", "the logbook of the station", "a tested rope",
			"clean sample tubes", "the calibration certificate",
		},
		columns: []string{"Site", "Depth in metres", "Samples", "Mean value", "Limit", "Share", "Remarks", "Year"},
		rows: []string{
			"North shore", "Old bridge", "Pumping station", "Upper lake", "East canal", "Mill weir", "South pier",
			"Reed belt", "Spring house", "Lock gate",
		},
		names: []string{"Ann Porter", "J. R. Hill", "Mary O’Neill", "Tom Ward"},
		dated: []string{
			"The contract of 12/03/2024 (no. 4711-B) costs 1,250.75 euros, or 3.5% more than in 2023.",
			"On 5 May 2021 at 14:30 the ISO 9001 audit began in room 12-A.", "Write to info@example.com or call +44 20 7946 0958.",
			"The firmware v2.4.1 needs 64 GB, twice as much as before (see www.example.org/a-b).",
		},
		captions: []string{"Table %d:", "Figure %d:"},
		space:    " ", comma: ", ",
	},
	"de": {
		titles: []string{"Jahresbericht zur Wasserqualität", "Handbuch der Hafenpumpen", "Untersuchung der Bergstraßen"},
		headings: []string{
			"Geltungsbereich", "Messverfahren", "Ergebnisse", "Erörterung", "Sicherheit", "Wartungsplan",
			"Rechtsgrundlage", "Personal und Schulung", "Kosten", "Offene Fragen", "Messstellen", "Ausrüstung",
			"Geschichte des Standorts", "Qualitätssicherung", "Ausblick", "Datenschutz",
		},
		leads: []string{
			"Zeile 4a.", "Ausnahmen.", "Hinweis:", "Wer abgeben muss.", "Frist.", "Achtung!", "Teilzeitkräfte.",
			"Erhaltene Beträge.",
		},
		sentences: []string{
			"Das Labor untersuchte im Sommer %d Proben aus dem östlichen Becken.",
			"Die meisten Werte blieben unter der Grenze, die das Amt veröffentlicht hatte.",
			"Eine zweite Gruppe wiederholte die Messung nach %d Stunden mit demselben Gerät.",
			"Der Unterschied beider Ablesungen ist kleiner als der Fehler des Verfahrens.",
			"Starker Regen spülte in der letzten Märzwoche Sand und Ton in den unteren See.",
			"Das Ventil wird geschlossen, bevor jemand den Deckel des Filters abnimmt.",
			"Die alten Rohre wurden %d ersetzt, und seither wurde kein Leck gemeldet.",
			"Es ist nicht bekannt, warum der Gehalt an Nitrat im Herbst wieder steigt.",
			"Besucher dürfen die Halle nur gemeinsam mit einem Mitarbeiter betreten.",
			"Der Bericht beschreibt zuerst die Verfahren und nennt alle Ergebnisse im Anhang.",
			"Jede Pumpe wird einmal im Jahr geprüft, und ihre Laufzeit wird vermerkt.",
			"Einkünfte aus dem Verkauf des Grundstücks sind im Jahr des Verkaufs anzugeben.",
		},
		items: []string{
			"Handschuhe und Schutzbrille", "eine Flasche destilliertes Wasser", "die unterschriebene Erlaubnis",
			"zwei Ersatzsicherungen", "eine Kopie des Grundrisses", "Schlüssel zum oberen Tor",
			"das Logbuch der Station", "ein geprüftes Seil", "saubere Probenröhrchen", "der Kalibrierschein",
		},
		columns: []string{"Stelle", "Tiefe in Metern", "Proben", "Mittelwert", "Grenze", "Anteil", "Bemerkung", "Jahr"},
		rows: []string{
			"Nordufer", "Alte Brücke", "Pumpwerk", "Oberer See", "Ostkanal", "Mühlwehr", "Südsteg", "Schilfgürtel",
			"Quellhaus", "Schleusentor",
		},
		names: []string{"Anna Pförtner", "J. R. Hügel", "Maria Öhler", "Tom Wart"},
		dated: []string{
			"Der Vertrag vom 12.03.2024 (Nr. 4711-B) kostet 1.250,75 Euro, also 3,5 % mehr als 2023.",
			"Am 5. Mai 2021 um 14:30 Uhr begann die Prüfung nach ISO 9001 im Raum 12-A.",
			"Schreiben Sie an info@example.com oder rufen Sie +49 30 1234567 an.",
			"Die Firmware v2.4.1 braucht 64 GB, doppelt so viel wie bisher (siehe www.example.org/a-b).",
		},
		captions: []string{"Tabelle %d:", "Abbildung %d:"},
		space:    " ", comma: ", ",
	},
	"es": {
		titles: []string{
			"Informe sobre la calidad del agua", "Manual de las bombas del puerto",
			"Estudio de los caminos de montaña",
		},
		headings: []string{
			"Alcance", "Métodos de medición", "Resultados", "Discusión", "Seguridad", "Plan de mantenimiento",
			"Base jurídica", "Personal y formación", "Costes", "Preguntas abiertas", "Lugares de muestreo", "Equipo",
			"Historia del lugar", "Garantía de calidad", "El futuro", "Protección de datos",
		},
		leads: []string{
			"Línea 4a.", "Excepciones.", "Nota:", "Quién debe declarar.", "Plazo.", "¡Atención!",
			"Residentes parciales.", "Sumas recibidas.",
		},
		sentences: []string{
			"El laboratorio examinó %d muestras de la cuenca oriental durante el verano.",
			"La mayoría de los valores quedó por debajo del límite que publicó la agencia.",
			"Un segundo equipo repitió la medición después de %d horas con el mismo aparato.",
			"La diferencia entre ambas lecturas es menor que el error del método.",
			"La lluvia intensa de la última semana de marzo llevó arena y arcilla al lago inferior.",
			"Los operarios cierran la válvula antes de retirar la tapa del filtro.",
			"Las tuberías viejas se cambiaron en %d y desde entonces no hubo fugas.",
			"No se sabe por qué la concentración de nitrato vuelve a subir en otoño.",
			"Los visitantes solo entran en la sala junto con un miembro del personal.",
			"El informe describe primero los métodos y recoge todos los resultados en el anexo.",
			"Cada bomba se revisa una vez al año y se anotan sus horas de trabajo.",
			"Los ingresos por la venta del terreno se declaran en el año de la venta.",
		},
		items: []string{
			"guantes y gafas de seguridad", "una botella de agua destilada", "el permiso firmado",
			"dos fusibles de repuesto", "una copia del plano", "llaves de la puerta superior",
			"el diario de la estación", "una cuerda probada", "tubos de muestra limpios",
			"el certificado de calibración",
		},
		columns: []string{"Lugar", "Profundidad en metros", "Muestras", "Valor medio", "Límite", "Parte", "Notas", "Año"},
		rows: []string{
			"Orilla norte", "Puente viejo", "Estación de bombeo", "Lago superior", "Canal este", "Presa del molino",
			"Muelle sur", "Carrizal", "Casa del manantial", "Compuerta",
		},
		names: []string{"Ana Portero", "J. R. Colina", "María Núñez", "Tomás Guarda"},
		dated: []string{
			"El contrato del 12/03/2024 (n.º 4711-B) cuesta 1.250,75 euros, un 3,5 % más que en 2023.",
			"El 5 de mayo de 2021 a las 14:30 empezó la auditoría ISO 9001 en la sala 12-A.",
			"Escriba a info@example.com o llame al +34 91 123 45 67.",
			"El firmware v2.4.1 necesita 64 GB, el doble que antes (véase www.example.org/a-b).",
		},
		captions: []string{"Tabla %d:", "Figura %d:"},
		space:    " ", comma: ", ",
	},
	"ar": {
		titles: []string{"التقرير السنوي عن جودة المياه", "دليل مضخات الميناء", "دراسة الطرق الجبلية"},
		headings: []string{
			"النطاق", "طرق القياس", "النتائج", "المناقشة", "السلامة", "خطة الصيانة", "الأساس القانوني",
			"الموظفون والتدريب", "التكاليف", "أسئلة مفتوحة", "مواقع أخذ العينات", "المعدات", "تاريخ الموقع",
			"ضمان الجودة", "التوقعات", "حماية البيانات",
		},
		leads: []string{
			"السطر الرابع.", "الاستثناءات.", "ملاحظة:", "من يجب أن يقدم.", "الموعد النهائي.", "تحذير!",
			"المقيمون جزئيا.", "المبالغ المستلمة.",
		},
		sentences: []string{
			"فحص المختبر %d عينة من الحوض الشرقي خلال فصل الصيف.",
			"بقيت معظم القيم تحت الحد الذي نشرته الوكالة.",
			"أعاد فريق ثان القياس بعد %d ساعة بالجهاز نفسه.",
			"الفرق بين القراءتين أصغر من خطأ الطريقة.",
			"حملت الأمطار الغزيرة في آخر أسبوع من مارس الرمل والطين إلى البحيرة السفلى.",
			"يغلق العمال الصمام قبل إزالة غطاء المرشح.",
			"استبدلت الأنابيب القديمة عام %d ولم يبلغ عن أي تسرب منذ ذلك الحين.",
			"لا يعرف لماذا يرتفع تركيز النترات مرة أخرى في الخريف.",
			"لا يدخل الزوار القاعة إلا مع أحد الموظفين.",
			"يصف التقرير الطرق أولا ويذكر جميع النتائج في الملحق.",
			"تفحص كل مضخة مرة في السنة وتسجل ساعات عملها.",
			"يجب الإبلاغ عن الدخل من بيع الأرض في سنة البيع.",
		},
		items: []string{
			"قفازات ونظارات واقية", "زجاجة ماء مقطر", "التصريح الموقع", "صمامان احتياطيان", "نسخة من المخطط",
			"مفاتيح البوابة العليا", "سجل المحطة", "حبل مختبر", "أنابيب عينات نظيفة", "شهادة المعايرة",
		},
		columns: []string{"الموقع", "العمق بالمتر", "العينات", "القيمة المتوسطة", "الحد", "النسبة", "ملاحظات", "السنة"},
		rows: []string{
			"الشاطئ الشمالي", "الجسر القديم", "محطة الضخ", "البحيرة العليا", "القناة الشرقية", "سد الطاحونة",
			"الرصيف الجنوبي", "حزام القصب", "بيت النبع", "بوابة الهويس",
		},
		names: []string{"أحمد العلي", "سلمى الأحمد", "خالد بلال", "ليلى الصالح"},
		dated: []string{
			"العقد المؤرخ 12/03/2024 (رقم 4711) يكلف 1250.75 يورو، أي أكثر بنسبة 3.5% من عام 2023.",
			"بدأ التدقيق وفقا للمعيار ISO 9001 في 5 مايو 2021 الساعة 14:30 في القاعة الأولى.",
			"راسلوا info@example.com أو اتصلوا بالرقم 0123456789 خلال الأسبوع الأول.",
			"الأسلاك والآلات اللازمة للإصلاح موجودة لدى الإدارة، ولا بد من الاطلاع على اللائحة.",
			"يحتاج البرنامج Linux إلى 64 غيغابايت، ولا يعمل إلا على الأجهزة الحديثة (انظر الملحق 2).",
			"اجتمعت اللجنة في ١٢ آذار ٢٠٢٤ وقررت الآتي: لا إلغاء ولا تأجيل.",
		},
		captions: []string{"الجدول %d:", "الشكل %d:"},
		space:    " ", comma: "، ",
	},
	"zh": {
		titles: []string{"水质年度报告", "港口水泵手册", "山区道路研究"},
		headings: []string{
			"适用范围", "测量方法", "结果", "讨论", "安全", "维护计划", "法律依据", "人员与培训", "费用", "未决问题",
			"采样地点", "设备", "场地历史", "质量保证", "展望", "数据保护",
		},
		leads: []string{"第四行。", "例外情况。", "注意:", "谁必须申报。", "截止日期。", "警告!", "部分年度居民。", "收到的金额。"},
		sentences: []string{
			"实验室在夏季检验了东部流域的%d份样品。", "大多数数值低于主管部门公布的限值。",
			"第二个小组在%d小时后用同一仪器重复了测量。", "两次读数之差小于该方法的误差。",
			"三月最后一周的大雨把沙子和黏土带入了下游湖泊。", "操作人员在取下过滤器盖之前关闭阀门。",
			"旧管道已于%d年更换,此后没有发现泄漏。", "目前还不清楚硝酸盐浓度为何在秋季再次上升。",
			"访客只能在工作人员陪同下进入大厅。", "报告首先介绍方法,并在附录中列出全部结果。",
			"每台水泵每年检查一次,并记录其工作时间。", "出售土地的收入必须在出售当年申报。",
		},
		items: []string{
			"手套和护目镜", "一瓶蒸馏水", "已签字的许可证", "两个备用保险丝", "平面图副本", "上层大门的钥匙", "站点日志",
			"经过检验的绳索", "干净的样品管", "校准证书",
		},
		columns: []string{"地点", "深度(米)", "样品数", "平均值", "限值", "比例", "备注", "年份"},
		rows:    []string{"北岸", "老桥", "泵站", "上湖", "东运河", "磨坊堰", "南码头", "芦苇带", "泉水屋", "闸门"},
		names:   []string{"王小明", "李华", "张伟", "刘洋"},
		dated: []string{
			"2024年3月12日签订的合同(编号4711-B)金额为1,250.75欧元,比2023年高3.5%。",
			"ISO 9001审核于2021年5月5日14:30在12-A室开始。", "请写信至info@example.com或致电010-12345678。",
			"固件v2.4.1需要64GB内存,是以前的两倍(参见www.example.org/a-b)。", "使用Linux系统的服务器在第3次测试中用了25秒。",
			"“安全第一”是我们的原则;请勿打开阀门!", "设备A-12、B-7和C-3在2022年至2024年期间运行了8,760小时。",
		},
		captions: []string{"表 %d:", "图 %d:"},
		space:    "", comma: ",",
	},
	// Persian and Japanese are for what is in the lines of text.
	"fa": {
		titles:   []string{"گزارش سالانه کیفیت آب", "راهنمای پمپ\u200cهای بندر"},
		headings: []string{"دامنه کاربرد", "روش\u200cهای اندازه\u200cگیری", "نتایج", "ایمنی", "هزینه\u200cها", "تجهیزات"},
		sentences: []string{
			"آزمایشگاه در تابستان %d نمونه از حوضه شرقی را بررسی کرد.", "لوله\u200cهای قدیمی در سال %d تعویض شدند و پس از آن هیچ نشتی گزارش نشد.",
			"بازدیدکنندگان تنها همراه یکی از کارکنان وارد سالن می\u200cشوند.",
		},
		items: []string{"دستکش و عینک ایمنی", "یک بطری آب مقطر", "کپی نقشه ساختمان", "کلید دروازه بالا"},
		dated: []string{
			"قرارداد ۱۲ اسفند ۱۴۰۲ با شماره 4711 مبلغ 1250 یورو است و سالانه 3.5% افزایش می\u200cیابد.",
			"اطلاعات کامل در لایه اول سند (صفحه ۲) آمده است و علاقه\u200cمندان باید آن را مطالعه کنند.",
			"استاندارد ISO 9001 از سال 2015 لازم\u200cالاجرا است و همه بلافاصله آن را پذیرفتند.",
		},
		space: " ", comma: "، ",
	},
	"ja": {
		titles:   []string{"水質年次報告書", "港湾ポンプの手引き"},
		headings: []string{"適用範囲", "測定方法", "結果", "安全", "費用", "設備"},
		sentences: []string{
			"研究所は夏に東部流域の%d個の試料を検査した。", "古い配管は%d年に交換され、その後漏れは報告されていない。",
			"見学者は職員と一緒でなければホールに入ることができません。",
		},
		items: []string{"手袋と保護メガネ", "蒸留水のボトル", "平面図のコピー", "上の門の鍵"},
		dated: []string{
			"2024年3月12日付の契約(番号4711-B)は1,250.75ユーロで、2023年より3.5%高い。",
			"ISO 9001の監査は2021年5月5日14時30分に12-A室で始まった。",
			"Linuxを使うサーバーは第3回テストで25秒かかり、メモリーは64GB必要だった。",
			"「安全第一」が原則です。バルブを開けないでください!",
		},
		space: "", comma: "、",
	},
}
