package trust

import (
	"fmt"
	"strings"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// entry is an event of the calendar. Its texts are stored: a release with other texts must not
// change the events of subscribers without a new sequence number.
type entry struct {
	UID         string    `json:"uid"`
	Sequence    int       `json:"sequence"` // -1 before it is described
	Revised     time.Time `json:"revised"`
	Start       time.Time `json:"start"`
	Status      string    `json:"status"` // of RFC 5545
	Category    string    `json:"category"`
	Summary     string    `json:"summary"`
	Description string    `json:"description"`
	URL         string    `json:"url"`
}

// revise replaces the content of an entry, and raises its sequence if the content differs.
func (e *entry) revise(to entry, now time.Time) {
	to.UID, to.Sequence, to.Revised = e.UID, e.Sequence, e.Revised
	if *e == to {
		return
	}
	to.Sequence, to.Revised = e.Sequence+1, now
	*e = to
}

// describe writes the texts of a rotation. h.Current is still the set before it.
func (s *Publisher) describe(h *history, c *change, now time.Time) {
	e := entry{
		Start:    c.At,
		Category: "TLS",
		URL:      s.fingerprintsURL(),
		Summary:  "TLS certificate changes on " + s.cfg.Hosts[0],
	}
	var text strings.Builder
	switch c.Status {
	case planned:
		e.Status, e.Summary = "TENTATIVE", e.Summary+" (planned)"
		text.WriteString("The certificate is due to be replaced about then. Its successor is published before it is " +
			"served.\n")
	case announced:
		e.Status = "CONFIRMED"
		text.WriteString("The certificate will be replaced.\n")
	case done:
		e.Status, e.Summary = "CONFIRMED", "TLS certificate changed on "+s.cfg.Hosts[0]
		text.WriteString("The certificate was replaced.\n")
	case cancelled:
		e.Status = "CANCELLED"
		text.WriteString("The certificate that was announced will not be served.\n")
	}
	fmt.Fprintf(&text, "Rotation: %s\nHosts: %s\n", c.ID, strings.Join(s.cfg.Hosts, ", "))
	var issuers []v1.TrustCertificate
	if h.Current != nil {
		leaves(&text, "Old", h.Current)
		issuers = h.Current.Issuers
	}
	if c.To != nil {
		leaves(&text, "New", c.To)
		compareIssuers(&text, issuers, c.To.Issuers)
	}
	text.WriteString("\n" + advice)
	e.Description = text.String()
	c.Entry.revise(e, now)
}

// leaves writes the fingerprints of a set.
func leaves(text *strings.Builder, which string, s *set) {
	for _, c := range s.Leaves {
		fmt.Fprintf(text, "%s %s key (SPKI): %s\n%s %s certificate, valid until %s: %s\n", which, c.KeyAlgorithm,
			c.Pins.Okhttp, which, c.KeyAlgorithm,
			c.NotAfter.UTC().Format("2006-01-02 15:04 UTC"), c.CertificateSha256)
	}
}

// compareIssuers writes whether clients that pin the authority must act.
func compareIssuers(text *strings.Builder, old, next []v1.TrustCertificate) {
	known := map[string]bool{}
	for _, c := range old {
		known[c.SpkiSha256] = true
	}
	for _, c := range next {
		if known[c.SpkiSha256] {
			fmt.Fprintf(text, "The issuing authority stays: %s, %s\n", c.Pins.Okhttp, c.Subject)
			continue
		}
		fmt.Fprintf(text, "The issuing authority is another one: %s, %s\n", c.Pins.Okhttp, c.Subject)
	}
}

// describePolicy writes the texts of a change of the policy.
func (s *Publisher) describePolicy(c *change, delta v1.TLSPolicyChange, now time.Time) {
	var text strings.Builder
	hosts := strings.Join(s.cfg.Hosts, ", ")
	fmt.Fprintf(&text, "The allowed TLS parameters were changed.\nChange: %s\nHosts: %s\n", c.ID, hosts)
	for _, part := range []struct {
		what           string
		added, removed []string
	}{
		{"Versions", delta.Added.Versions, delta.Removed.Versions},
		{"Cipher suites", delta.Added.CipherSuites, delta.Removed.CipherSuites},
		{"Signature algorithms", delta.Added.SignatureAlgorithms, delta.Removed.SignatureAlgorithms},
	} {
		if len(part.added) > 0 {
			fmt.Fprintf(&text, "%s added: %s\n", part.what, strings.Join(part.added, ", "))
		}
		if len(part.removed) > 0 {
			fmt.Fprintf(&text, "%s removed: %s\n", part.what, strings.Join(part.removed, ", "))
		}
	}
	c.Entry.revise(entry{
		Start: c.At, Category: "TLS", URL: s.trustURL(), Status: "CONFIRMED",
		Summary:     "TLS policy changed on " + s.cfg.Hosts[0],
		Description: strings.TrimSuffix(text.String(), "\n"),
	}, now)
}
