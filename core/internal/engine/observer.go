package engine

import (
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Contradiction is a response of the acquirer that does not fit the recorded outcome.
type Contradiction string

// The contradictions.
const (
	// LateRecorded: a step that had failed, or that the acquirer had to drop, was approved. It is
	// recorded as done.
	LateRecorded Contradiction = "late_recorded"
	// LateReversed: a step that had failed was approved. It cannot be recorded any more, so the
	// acquirer must reverse it.
	LateReversed Contradiction = "late_reversed"
	// OtherAmount: the acquirer approved an amount that was not requested. The step stays open.
	OtherAmount Contradiction = "other_amount"
	// Undecided: the acquirer's records do not decide about a closed step, or show an effect that
	// cannot be recorded. Its pending reversal waits for an operator.
	Undecided Contradiction = "undecided"
)

// Contradictions returns all kinds.
func Contradictions() []Contradiction {
	return []Contradiction{LateRecorded, LateReversed, OtherAmount, Undecided}
}

// Skip is the reason why settlement leaves a capture unsettled after the end of its day.
type Skip string

// The reasons of skips.
const (
	SkipTimeZone Skip = "time_zone" // the merchant's time zone cannot be loaded; counts merchants
	SkipVoid     Skip = "void"      // a void of the transaction has no outcome yet; counts transactions
	SkipFailed   Skip = "failed"    // the store refuses the change; counts transactions
)

// Skips returns all reasons.
func Skips() []Skip { return []Skip{SkipTimeZone, SkipVoid, SkipFailed} }

// Settlement is the result of a pass: the transactions that it settled, and the captures that it
// left unsettled although their day has ended.
type Settlement struct {
	Transactions int           // settled by this pass
	Lag          time.Duration // since the end of the oldest day of test mode with an unsettled capture, 0 for none
	Skipped      map[Skip]int
}

func (s *Settlement) skip(why Skip, n int, lag time.Duration) {
	if s.Skipped == nil {
		s.Skipped = map[Skip]int{}
	}
	s.Skipped[why] += n
	s.Lag = max(s.Lag, lag)
}

// Observer receives the results of background work. Its methods are called by several goroutines
// and must not block.
type Observer interface {
	// SettlementBegun reports the time since the end of the oldest day of test mode that is not
	// settled, 0 for none. A pass starts with it.
	SettlementBegun(lag time.Duration)
	// SettlementEnded reports a pass. With a nil error it settled all due captures except s.Skipped.
	SettlementEnded(s Settlement, err error)
	// SettlementExceptions reports the captures of live mode that wait for an operator, by kind.
	SettlementExceptions(map[payment.ExceptionKind]int)
	// AccountReported reports the end of a round of an account's settlement reports: complete, or not.
	AccountReported(account string, complete bool)
	// ClockBehind reports how far the clock is behind the newest row, 0 for not at all.
	ClockBehind(by time.Duration)
	// ClockUnconfirmed reports how far the clock is ahead of the confirmed time, 0 for not at all.
	ClockUnconfirmed(by time.Duration)
	// ExpiryEnded reports a pass and the number of authorizations that it ended. With a nil error
	// these are all due ones.
	ExpiryEnded(transactions int, err error)
	// RecoveryLooked reports the unfinished steps by kind and the time of the oldest. It omits steps
	// begun a moment ago and reversals not due.
	RecoveryLooked(open map[payment.StepKind]int, oldest time.Time)
	// RecoveryAttempted reports one attempt at a step, and whether it finished the step.
	RecoveryAttempted(step payment.StepKind, finished bool)
	// Skipped reports an object that a pass, one of pass.Names, left as it was.
	Skipped(pass string)
	// AcquirerContradicted: a response of the acquirer on a step did not fit the recorded outcome.
	AcquirerContradicted(step payment.StepKind, what Contradiction)
	// TokensSwept reports the number of removed tokens.
	TokensSwept(n int64, err error)
}

type noObserver struct{}

func (noObserver) SettlementBegun(time.Duration)                        {}
func (noObserver) SettlementEnded(Settlement, error)                    {}
func (noObserver) SettlementExceptions(map[payment.ExceptionKind]int)   {}
func (noObserver) AccountReported(string, bool)                         {}
func (noObserver) ClockBehind(time.Duration)                            {}
func (noObserver) ClockUnconfirmed(time.Duration)                       {}
func (noObserver) ExpiryEnded(int, error)                               {}
func (noObserver) RecoveryLooked(map[payment.StepKind]int, time.Time)   {}
func (noObserver) RecoveryAttempted(payment.StepKind, bool)             {}
func (noObserver) Skipped(string)                                       {}
func (noObserver) TokensSwept(int64, error)                             {}
func (noObserver) AcquirerContradicted(payment.StepKind, Contradiction) {}
