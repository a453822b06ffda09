package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// writeSBOM writes a CycloneDX bill of materials of the binary: the modules that are linked in and the packages whose
// files are embedded, at their versions, with licences and hashes (those of go.sum, or of the files), and the Go it was
// built with.
func writeSBOM(w io.Writer, o options, info *buildinfo.BuildInfo, modules []module) error {
	binary, err := os.ReadFile(o.binary)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(binary)
	self := cdx.Component{
		BOMRef: "async-worker", Type: cdx.ComponentTypeApplication, Name: "async-worker", Version: o.version,
		PackageURL: ownURL(o, info), Hashes: sha256Hash(hex.EncodeToString(digest[:])), Licenses: licences("Apache-2.0"),
	}
	var components []cdx.Component
	var refs []string
	for _, m := range modules {
		c, err := component(m)
		if err != nil {
			return err
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	// A version 5 UUID of the binary's digest: the same build has the same number.
	bom.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, digest[:]).String()
	bom.Metadata = &cdx.Metadata{Component: &self}
	if o.date.Unix() != 0 {
		bom.Metadata.Timestamp = o.date.Format(time.RFC3339)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	bom.Compositions = &[]cdx.Composition{
		{Aggregate: cdx.CompositionAggregateComplete, Assemblies: &[]cdx.BOMReference{cdx.BOMReference(self.BOMRef)}},
	}
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom,
		cdx.SpecVersion1_6)
}

// ownURL is the program's package URL: of the Debian package that it is in, or of the Go program alone.
func ownURL(o options, info *buildinfo.BuildInfo) string {
	if !o.deb {
		return "pkg:golang/" + info.Main.Path + "@" + o.version
	}
	return fmt.Sprintf("pkg:deb/async-worker@%s?arch=%s", strings.ReplaceAll(o.version, "~", "%7E"), setting(info, "GOARCH"))
}

// component has a package's embedded files as components of their own: only files have hashes that can be compared.
func component(m module) (cdx.Component, error) {
	c := cdx.Component{
		Type: cdx.ComponentTypeLibrary, BOMRef: m.packageURL(), Name: m.path, Version: m.version,
		Scope: cdx.ScopeRequired, PackageURL: m.packageURL(), Licenses: licences(m.licences...),
	}
	if h, ok := strings.CutPrefix(m.sum, "h1:"); ok {
		raw, err := base64.StdEncoding.DecodeString(h)
		if err != nil {
			return c, fmt.Errorf("the hash of %s: %w", m.path, err)
		}
		c.Hashes = sha256Hash(hex.EncodeToString(raw))
	}
	var files []cdx.Component
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		files = append(files, cdx.Component{Type: cdx.ComponentTypeFile, Name: name, Hashes: sha256Hash(m.files[name])})
	}
	if files != nil {
		c.Components = &files
	}
	return c, nil
}

func sha256Hash(digits string) *[]cdx.Hash {
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digits}}
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
