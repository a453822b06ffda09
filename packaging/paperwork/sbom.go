package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// writeSBOM writes a CycloneDX bill of materials of the binary: the modules that are linked in, at their versions, with
// licences and hashes (those of go.sum), and the Go it was built with.
func writeSBOM(w io.Writer, o options, info *buildinfo.BuildInfo, modules []module) error {
	binary, err := os.ReadFile(o.binary)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(binary)
	self := cdx.Component{
		BOMRef: "async-worker", Type: cdx.ComponentTypeApplication, Name: "async-worker", Version: o.version,
		PackageURL: fmt.Sprintf("pkg:deb/async-worker@%s?arch=%s", strings.ReplaceAll(o.version, "~", "%7E"),
			setting(info, "GOARCH")),
		Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest[:])}},
		Licenses: licences("Apache-2.0"),
	}
	var components []cdx.Component
	var refs []string
	for _, m := range modules {
		c := cdx.Component{
			Type: cdx.ComponentTypeLibrary, Name: m.path, Version: m.version, Scope: cdx.ScopeRequired,
			PackageURL: "pkg:golang/" + m.path + "@" + m.version, Licenses: licences(m.licences...),
		}
		c.BOMRef = c.PackageURL
		if h, ok := strings.CutPrefix(m.sum, "h1:"); ok {
			raw, err := base64.StdEncoding.DecodeString(h)
			if err != nil {
				return fmt.Errorf("the hash of %s: %w", m.path, err)
			}
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	// A version 5 UUID of the binary's digest: the same build has the same number.
	bom.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, digest[:]).String()
	bom.Metadata = &cdx.Metadata{Timestamp: o.date.Format(time.RFC3339), Component: &self}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	bom.Compositions = &[]cdx.Composition{
		{Aggregate: cdx.CompositionAggregateComplete, Assemblies: &[]cdx.BOMReference{cdx.BOMReference(self.BOMRef)}},
	}
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom,
		cdx.SpecVersion1_6)
}

func licences(ids ...string) *cdx.Licenses {
	switch len(ids) {
	case 0:
		return nil
	case 1:
		return &cdx.Licenses{{License: &cdx.License{ID: ids[0]}}}
	}
	return &cdx.Licenses{{Expression: strings.Join(ids, " AND ")}}
}

func setting(info *buildinfo.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
