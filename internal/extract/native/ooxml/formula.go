package ooxml

import "fmt"

// Unsaved is the warning about n formulas of a sheet whose results the program that wrote it left out.
func Unsaved(n int) string {
	return fmt.Sprintf("%d formulas have no stored result: open the file in Excel or LibreOffice and save it", n)
}
