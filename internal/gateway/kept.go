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
	for n := max(1, claim-last+1); n <= claim; n++ {
		all = append(all, KeptBlob(key, n))
	}
	return all
}
