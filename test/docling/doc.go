// Package docling has the tests of what becomes of documents when docling-serve is down, slow, forgets or does
// half of its work: the engine, the ingest handler and the client together, against a stand-in of the server.
package docling
