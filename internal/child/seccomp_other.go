//go:build !amd64

package child

// byPath is empty: these machines have no older calls.
var byPath []uint32
