// Package gateway tests xml tasks through the whole engine, against the stand-in of the gateway.
package gateway
