package main

// An invoice of the same harbour. The stand-in of the gateway reads it as gatewaytest.Sample.

const invoiceTitle = "Invoice SH-2026-0417"

var invoice = []block{
	heading(2, "Southhaven Harbour Company"),
	paragraph("VAT ID: DE 811 907 980. Invoice SH-2026-0417 of 17 March 2026, to Ellery Timber Ltd, Port Ellery."),
	table(
		[]float64{40, 200, 70, 80, 90},
		[]string{"No.", "Text", "Quantity", "Price", "Amount"},
		[]string{"1", "Berth 4, three days", "3", "412.50", "1,237.50"},
		[]string{"2", "Crane with driver, hours", "6", "148.00", "888.00"},
		[]string{"3", "Shore power, kWh", "940", "0.31", "291.40"},
	),
	paragraph("Net: 2,416.90 EUR"),
	paragraph("VAT 19 %: 459.21 EUR"),
	paragraph("Total: 2,876.11 EUR, payable by 16.04.2026"),
}
