// Package docling tests what happens to documents when docling-serve is down, slow, forgets tasks or does only part
// of its work: the engine, the ingest handler and the client together, with a stub of the server.
package docling
