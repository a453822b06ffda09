package main

// How the pilot boats of the same harbour are looked after.

const careTitle = "Care of the Pilot Boats"

var care = []block{
	heading(1, "The boats"),
	paragraph("Southhaven has two pilot boats, Curlew and Sandpiper. Each goes out about 900 times a year, mostly " +
		"at night and seldom in fine weather. They are only as safe as their last inspection."),
	heading(1, "Before every trip"),
	paragraph("The coxswain walks around the boat and ticks the card. A boat with an open point stays at the pontoon."),
	list(
		"Bilge dry, both pumps tried by hand",
		"Searchlight, radar and both radios on",
		"Rescue cradle runs free, its winch brake holds",
		"Fuel for at least six hours",
	),
	heading(1, "Engine service"),
	heading(2, "Intervals"),
	paragraph("Hours are read from the meter in the wheelhouse and entered in the engine book on Sundays."),
	table(nil,
		[]string{"Work", "Every", "Who"},
		[]string{"Oil and oil filter", "250 hours", "Boatman on duty"},
		[]string{"Impeller of the sea-water pump", "500 hours", "Workshop"},
		[]string{"Injectors", "2,000 hours", "Maker's service"},
		[]string{"Full overhaul", "12,000 hours", "Yard in Port Ellery"},
	),
	heading(2, "Changing the oil"),
	steps(
		"Run the engine warm, stop it, and close the sea cock.",
		"Pump the old oil into the marked drum, never into the bilge.",
		"Change the filter and wet the new seal with fresh oil.",
		"Fill in 38 litres of 15W-40, run for two minutes, and read the dipstick.",
	),
	heading(1, "Winter"),
	paragraph("From the first frost the cooling circuits hold a third of antifreeze, the deck is gritted with sand " +
		"and not with salt, and the heaters in the wheelhouse stay on at the pontoon. Curlew goes to the yard in " +
		"January, Sandpiper in February, so that one of them is always ready."),
}
