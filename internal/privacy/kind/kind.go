// Package kind names the kinds of personal data, in one place for the settings and the detectors.
package kind

// Kind is a kind of personal data, in capitals. A detector may have other kinds than these.
type Kind string

// The kinds that are found by patterns, without a detector of another program.
const (
	Email      Kind = "EMAIL"
	Phone      Kind = "PHONE"
	IBAN       Kind = "IBAN"
	CreditCard Kind = "CREDIT_CARD"
	IPAddress  Kind = "IP_ADDRESS"
	NationalID Kind = "NATIONAL_ID" // of a person: social security and tax numbers
)

// Patterns lists the kinds that are found by patterns.
func Patterns() []Kind { return []Kind{Email, Phone, IBAN, CreditCard, IPAddress, NationalID} }

// OfPresidio returns our kind for a name of Presidio's (https://microsoft.github.io/presidio/supported_entities/) that
// differs from it. Presidio's other names are kinds of their own.
func OfPresidio(name string) (k Kind, renamed bool) {
	switch name {
	case "EMAIL_ADDRESS":
		return Email, true
	case "PHONE_NUMBER":
		return Phone, true
	case "IBAN_CODE":
		return IBAN, true
	case "US_SSN", "US_ITIN", "UK_NINO", "ES_NIF", "ES_NIE", "IT_FISCAL_CODE", "PL_PESEL", "SE_PERSONNUMMER", "DE_TAX_ID",
		"FI_PERSONAL_IDENTITY_CODE", "IN_AADHAAR", "KR_RRN", "SG_NRIC_FIN", "CA_SIN", "TH_TNIN", "TR_NATIONAL_ID", "NG_NIN":
		return NationalID, true
	}
	return "", false
}
