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
	space     string   // between two sentences
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
		space: " ",
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
		space: " ",
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
		space: " ",
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
		space: " ",
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
	},
}
