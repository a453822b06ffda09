package gateway

import (
	"strconv"
)

// Kept is the folder of kept answers in a tenant's container.
const Kept = "derived/gateway/"

// KeptBlob names the blob with the answer to a question, by its key and the claim under which it was asked. No two
// claims have the same name, so a blob is never overwritten.
func KeptBlob(key string, claim int64) string { return Kept + key + "." + strconv.FormatInt(claim, 10) }

// KeptBlobs names the blobs that the last claims on a question up to this one may have left.
func KeptBlobs(key string, claim int64) []string {
	const last = 8
	var all []string
	for n := max(FirstClaim(claim), claim-last+1); n <= claim; n++ {
		all = append(all, KeptBlob(key, n))
	}
	return all
}

// FirstClaim is the first claim on a question since its row was made. The numbers of a row follow a multiple of 1000 (see
// aw_gateway_claim); in the rare row with more claims it is a later one.
func FirstClaim(claim int64) int64 {
	const numbers = 1000
	return claim - (claim-1)%numbers
}
