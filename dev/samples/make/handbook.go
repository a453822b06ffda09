package main

// The handbook of a harbour company that does not exist.

const handbookTitle = "Southhaven Harbour Handbook"

var handbook = []block{
	heading(1, "1 Welcome aboard"),
	paragraph("Southhaven Harbour has moved people, fish and timber since 1874. Today 212 of us run two basins, " +
		"nine berths, a lock, a marina and the night ferry to Port Ellery. This handbook says how we work together, " +
		"whom to ask, and what to do when the weather turns."),
	paragraph("It is kept by the harbour office. Whoever finds a mistake writes to the harbour master; corrections " +
		"appear on the first Monday of each month."),
	heading(2, "1.1 The harbour at a glance"),
	list(
		"North Basin: berths 1 to 5, container and timber ships up to 190 metres.",
		"South Basin: berths 6 to 9, fishing boats, the pilot station and the ferry.",
		"Old Lock: 14 metres wide, open from an hour before to an hour after high water.",
		"Lantern Marina: 160 places for guests, in the care of the Lantern Club.",
	),
	heading(2, "1.2 How we decide"),
	paragraph("The harbour master decides on ships, the quay warden on everything that stands on land, and the duty " +
		"officer on anything that can't wait. Who disagrees says so at once, follows the decision, and brings it to " +
		"the Thursday round."),
	pageBreak(),

	heading(1, "2 Working hours and leave"),
	heading(2, "2.1 Shifts"),
	paragraph("The harbour works around the clock in three shifts: early from 06:00 to 14:00, late from 14:00 to " +
		"22:00, and night from 22:00 to 06:00. Shifts overlap by a quarter of an hour for the handover at the chart " +
		"table. The plan for a month is posted on the fifteenth of the month before."),
	heading(2, "2.2 Annual leave"),
	paragraph("Everybody has 29 days of leave a year, and one more for every five years with the harbour. Requests " +
		"of up to five days are answered within three working days. At most two crane drivers may be on leave at " +
		"the same time."),
	heading(2, "2.3 Swapping a shift"),
	steps(
		"Find a colleague with the same licence.",
		"Both sign the swap in the duty book, at least 24 hours before.",
		"The duty officer confirms it; without the confirmation the old plan stands.",
	),
	heading(2, "2.4 Illness"),
	paragraph("Call the duty officer before the shift begins, at any hour. A doctor's note is needed from the " +
		"fourth day on."),
	pageBreak(),

	heading(1, "3 Berths and fees"),
	heading(2, "3.1 Booking a berth"),
	paragraph("Ships book at least 36 hours ahead with name, length, draught and cargo. The harbour office answers " +
		"within two hours. A booking lapses when the ship is more than six hours late and has not called."),
	heading(2, "3.2 Berth fees"),
	paragraph("Fees are charged for each begun day and include water and the disposal of household waste. Shore " +
		"power is metered apart."),
	table([]float64{150, 110, 110, 110},
		[]string{"Length of the ship", "Up to 2 days", "From day 3", "Shore power"},
		[]string{"Up to 24 m", "85 crowns", "70 crowns", "16 A"},
		[]string{"24 to 60 m", "240 crowns", "205 crowns", "63 A"},
		[]string{"60 to 120 m", "690 crowns", "610 crowns", "125 A"},
		[]string{"120 to 190 m", "1,450 crowns", "1,280 crowns", "400 A"},
	),
	heading(2, "3.3 Reductions"),
	paragraph("Fishing boats registered in Southhaven pay half. Ships that stay on shore power for their whole time " +
		"at the berth pay a tenth less. Museum ships are our guests."),
	pageBreak(),

	heading(1, "4 Safety on the quay"),
	heading(2, "4.1 What everybody wears"),
	paragraph("Helmet, high-visibility vest and safety shoes from the gate on; a life jacket within two metres of " +
		"the edge. Visitors get theirs at the gatehouse and are never alone on the quay."),
	heading(2, "4.2 Fog"),
	paragraph("When the end of the North Mole can't be seen from the control room, the fog signal sounds every 90 " +
		"seconds, vehicles go at walking pace, and ships above 60 metres wait outside for a pilot."),
	heading(2, "4.3 Storm"),
	paragraph("At a wind of 34 knots the duty officer gives amber warning: loading ends, loose goods are lashed, " +
		"and the gangways are taken in. At 45 knots it is red warning: the quay cranes are parked, turned into the " +
		"wind and pinned to the rail, and nobody stays on the quay. Only the duty officer ends a warning, no sooner " +
		"than 30 minutes after the last gust above its limit."),
	heading(2, "4.4 Man overboard"),
	steps(
		"Shout, point, and don't take your eyes off the person.",
		"Throw the nearest ring buoy; there is one every 40 metres.",
		"Call the control room on channel 12 or 4400.",
		"Never jump in after somebody.",
	),
	pageBreak(),

	heading(1, "5 Travel and expenses"),
	heading(2, "5.1 Daily allowance"),
	paragraph("On journeys for the harbour we pay an allowance for meals. It needs no receipts."),
	table([]float64{200, 140, 140},
		[]string{"Away for", "At home", "Abroad"},
		[]string{"8 to 14 hours", "18 crowns", "26 crowns"},
		[]string{"14 to 24 hours", "31 crowns", "44 crowns"},
		[]string{"A whole day", "42 crowns", "60 crowns"},
	),
	heading(2, "5.2 Receipts"),
	paragraph("Everything else is repaid against receipts that reach the office within six weeks: trains in second " +
		"class, the ferry, and a room of up to 130 crowns a night. Taxis are repaid between 22:00 and 06:00."),
	pageBreak(),

	heading(1, "6 Whom to call"),
	paragraph("The control room is staffed day and night and knows who is on duty."),
	table([]float64{170, 170, 140},
		[]string{"Office", "Person", "Telephone"},
		[]string{"Control room", "The duty officer", "4400"},
		[]string{"Harbour master", "Ingrid Vale", "4401"},
		[]string{"Quay warden", "Tomas Brandt", "4410"},
		[]string{"Pilot station", "Oona Reyes", "4420"},
		[]string{"Lost property", "The gatehouse", "4455"},
	),
}
