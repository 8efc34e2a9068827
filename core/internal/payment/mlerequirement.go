package payment

import (
	"fmt"
	"time"
)

// MLENotice is the least time between the announcement of a requirement and its date.
const MLENotice = 366 * 24 * time.Hour

// MLERequirement is an announced requirement: from its date on, the bodies of requests to its
// endpoints must be encrypted.
type MLERequirement struct {
	ID          int64
	Endpoints   []string // such as "POST /v1/tokens"
	AnnouncedAt time.Time
	EffectiveAt time.Time // at least MLENotice after AnnouncedAt
	WithdrawnAt time.Time // zero: not withdrawn
}

// MLENoticeError reports a date that is too early.
type MLENoticeError struct {
	Earliest time.Time // the earliest allowed date
}

func (e *MLENoticeError) Error() string {
	return fmt.Sprintf("the requirement must take effect at least %d days after its announcement: want %s or later",
		MLENotice/(24*time.Hour), e.Earliest.UTC().Format(time.RFC3339))
}

// CheckNotice returns an MLENoticeError if the date is less than MLENotice after the announcement.
func (r *MLERequirement) CheckNotice() error {
	if earliest := r.AnnouncedAt.Add(MLENotice); r.EffectiveAt.Before(earliest) {
		return &MLENoticeError{Earliest: earliest}
	}
	return nil
}
