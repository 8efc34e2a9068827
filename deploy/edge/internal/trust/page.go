package trust

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	pathTrust        = "/v1/trust"
	pathFingerprints = pathTrust + "/fingerprints"
	calendarFile     = "/calendar.ics"

	advice = "Never pin a leaf certificate or its key. Where you must pin, pin the key (SPKI) of the issuing authority " +
		"and one backup that is not in the " +
		"served chain, and listen to the event certificate.rotated."
)

// page is the response for a path, made once for each state of the history.
type page struct {
	kind   string
	maxAge string
	etag   string
	body   []byte
}

type pages struct{ index, fingerprints, calendar *page }

// render returns the pages of a history.
func (s *Publisher) render(h *history) (*pages, error) {
	hosts := h.Hosts
	if len(hosts) == 0 {
		hosts = s.cfg.Hosts
	}
	index := v1.Trust{
		Object: v1.TrustObjectTrust, Hosts: hosts, FingerprintsURL: s.fingerprintsURL(), CalendarURL: s.calendarURL(),
		TLSPolicy: h.Policy, Advice: advice,
	}
	shown := v1.TrustFingerprints{
		Object: v1.TrustFingerprintsObjectTrustFingerprints, Hosts: hosts, Current: []v1.TrustCertificate{},
		Next:       []v1.TrustCertificate{},
		IssuingCas: []v1.TrustCertificate{}, CalendarURL: s.calendarURL(), Advice: advice,
	}
	if h.Current != nil {
		shown.Current, shown.IssuingCas = h.Current.Leaves, slices.Clone(h.Current.Issuers)
	}
	if c := h.Next; c != nil {
		if c.To != nil {
			shown.Next, shown.IssuingCas = c.To.Leaves, distinct(append(shown.IssuingCas, c.To.Issuers...))
		}
		shown.Rotation = &v1.TrustRotation{
			ID:          c.ID,
			Status:      v1.TrustRotationStatus(c.Status),
			EffectiveAt: v1.Time{Time: c.At},
		}
	}
	calendar, err := s.calendar(h)
	if err != nil {
		return nil, err
	}
	p := &pages{calendar: newPage("text/calendar; charset=utf-8", "public, max-age=3600", []byte(calendar))}
	if p.index, err = jsonPage(index); err != nil {
		return nil, err
	}
	if p.fingerprints, err = jsonPage(shown); err != nil {
		return nil, err
	}
	return p, nil
}

func jsonPage(v any) (*page, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	return newPage("application/json", "public, max-age=300", body), nil
}

func newPage(kind, maxAge string, body []byte) *page {
	sum := sha256.Sum256(body)
	return &page{kind, maxAge, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, body}
}

func (s *Publisher) calendarURL() string { return s.cfg.URL + calendarFile }

// trustURL returns the URL of the index on the trust host. Every host serves the same pages.
func (s *Publisher) trustURL() string {
	u, err := url.Parse(s.cfg.URL)
	if err != nil {
		return s.cfg.URL // impossible: Open has parsed it
	}
	u.Path = pathTrust
	return u.String()
}

func (s *Publisher) fingerprintsURL() string {
	return s.trustURL() + "/fingerprints"
}
