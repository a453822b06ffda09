package ooxml

import "fmt"

// Unsaved is the warning about n formulas of a sheet whose results the program that wrote it left out.
func Unsaved(n int) string {
	formulas := "1 formula has"
	if n != 1 {
		formulas = fmt.Sprintf("%d formulas have", n)
	}
	return formulas + " no stored result: open the file in Excel or LibreOffice and save it"
}
