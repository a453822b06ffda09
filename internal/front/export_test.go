package front

import "time"

// SetReadLimit makes tenants of a front that has not served yet wait shorter for the next bytes from a client.
func (f *Front) SetReadLimit(d time.Duration) { f.readLimit = d }
