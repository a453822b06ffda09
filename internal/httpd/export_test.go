package httpd

// NewPeers is newPeers, for tests.
var NewPeers = newPeers
