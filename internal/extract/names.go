package extract

// names returns the readable names of a format: a short one, and one with its article.
func names(f Format) (short, phrase string) {
	switch f {
	case PDF:
		return "PDF", "a PDF file"
	case DOCX:
		return "Word (DOCX)", "a Word document (DOCX)"
	case PPTX:
		return "PowerPoint (PPTX)", "a PowerPoint presentation (PPTX)"
	case XLSX:
		return "Excel (XLSX)", "an Excel workbook (XLSX)"
	case HTML:
		return "HTML", "an HTML page"
	case Markdown:
		return "Markdown", "a Markdown file"
	case CSV:
		return "CSV", "a CSV file"
	case Text:
		return "plain text", "a plain text file"
	case EML:
		return "e-mail (EML)", "an e-mail message (EML)"
	case MBOX:
		return "mailbox (MBOX)", "a mailbox (MBOX)"
	case XML:
		return "XML", "an XML document"
	case RTF:
		return "RTF", "a Rich Text document (RTF)"
	case Image:
		return "images", "an image"
	case ODF:
		return "OpenDocument", "an OpenDocument file"
	case EPUB:
		return "EPUB", "an electronic book (EPUB)"
	case DOC:
		return "Word before 2007 (DOC)", "a Word document in the format before 2007 (DOC)"
	case XLS:
		return "Excel before 2007 (XLS)", "an Excel workbook in the format before 2007 (XLS)"
	case PPT:
		return "PowerPoint before 2007 (PPT)", "a PowerPoint presentation in the format before 2007 (PPT)"
	case XLSB:
		return "Excel binary (XLSB)", "an Excel binary workbook (XLSB)"
	case MSG:
		return "Outlook messages (MSG)", "an Outlook message (MSG)"
	case Office:
		return "documents of other office programs", "a document of another office program"
	case OLE:
		return "compound files", "a compound file (OLE) that is not an Office document"
	case Zip:
		return "zip archives", "a zip archive"
	default:
		return string(f), "a file of an unknown binary format"
	}
}
