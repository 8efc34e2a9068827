package engine

import (
	"fmt"
	"runtime"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
)

// Settings are the engine's part of the configuration file. The file's template explains each of
// them. Zero stands for the default.
type Settings struct {
	MaxBody      int  `yaml:"max_body"`      // of an encrypted request as sent, in bytes
	MaxPlaintext int  `yaml:"max_plaintext"` // of the request after decryption, in bytes
	MaxHeader    int  `yaml:"max_header"`    // of the protected header, decoded, in bytes
	MaxResponse  int  `yaml:"max_response"`  // of a response before encryption, in bytes
	RequireIAT   bool `yaml:"require_iat"`
	// The largest difference between iat and now, in either direction; below maxAgeLimit.
	MaxAge      time.Duration `yaml:"max_age"`
	Concurrency int           `yaml:"decryptions"`
	Queue       time.Duration `yaml:"decryption_wait"`
}

// The defaults of Settings. The largest plaintext fits into the largest body with any header and
// any key.
const (
	defaultMaxBody      = 256 << 10
	defaultMaxPlaintext = 188 << 10
	defaultMaxHeader    = 2 << 10
	defaultMaxResponse  = 1 << 20
	defaultMaxAge       = 5 * time.Minute
	defaultQueue        = 100 * time.Millisecond
)

// maxAgeLimit bounds MaxAge. A message is accepted for up to twice MaxAge. Core keeps the
// Idempotency-Key for 24 hours, so a replay in that time changes nothing.
const maxAgeLimit = 12 * time.Hour

// maxSize is above every reasonable limit. Sums of limits below it cannot overflow.
const maxSize = 64 << 20

// Complete fills in the defaults and validates the settings.
func (s Settings) Complete() (Settings, error) {
	for _, size := range []struct {
		name     string
		value    *int
		standard int
	}{
		{"max_header", &s.MaxHeader, defaultMaxHeader},
		{"max_response", &s.MaxResponse, defaultMaxResponse},
		{"decryptions", &s.Concurrency, 2 * runtime.GOMAXPROCS(0)},
		{"max_body", &s.MaxBody, 0},
		{"max_plaintext", &s.MaxPlaintext, 0},
	} {
		if *size.value == 0 {
			*size.value = size.standard
		}
		if *size.value < 0 || *size.value > maxSize {
			return s, fmt.Errorf("mle: %s: %d is not allowed: want 0 to %d", size.name, *size.value, maxSize)
		}
	}
	if err := s.completeBody(); err != nil {
		return s, err
	}
	if s.MaxAge == 0 {
		s.MaxAge = defaultMaxAge
	}
	if s.Queue == 0 {
		s.Queue = defaultQueue
	}
	if s.MaxAge < time.Second || s.MaxAge >= maxAgeLimit {
		return s, fmt.Errorf("mle: max_age: %s is not allowed: want at least 1s and less than %s", s.MaxAge, maxAgeLimit)
	}
	if s.Queue < 0 {
		return s, fmt.Errorf("mle: decryption_wait: %s is negative", s.Queue)
	}
	return s, nil
}

// completeBody derives the limit of a body from the limit of its plaintext, or the other way round.
// It rejects a plaintext limit that no body can reach.
func (s *Settings) completeBody() error {
	needs := jwe.MaxSize(s.MaxHeader, s.MaxPlaintext)
	if s.MaxBody == 0 {
		s.MaxBody = max(defaultMaxBody, needs)
	}
	switch {
	case s.MaxPlaintext == 0:
		s.MaxPlaintext = min(defaultMaxPlaintext, s.MaxBody)
	case needs > s.MaxBody:
		return fmt.Errorf(
			"mle: max_plaintext: a plaintext of %d bytes needs a body of up to %d, and max_body is %d", s.MaxPlaintext, needs,
			s.MaxBody,
		)
	}
	return nil
}
