package crash

import v1 "github.com/causeway-pay/causeway/shared/v1"

// Held returns the amount that the acquirer holds or took for a transaction, by its journal at
// path.
func Held(path, transaction string) (int64, error) {
	j, err := readJournal(path)
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for _, e := range j.held(transaction) {
		sum += e.amount
	}
	return sum, nil
}

// Moved returns the references of the requests of a kind that moved money and stand, by the
// journal at path.
func Moved(path string, kind byte) ([]string, error) {
	j, err := readJournal(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range j.moved(j.entries, kind) {
		out = append(out, e.reference)
	}
	return out, nil
}

// OpenReceiver returns the URL of a receiver that refuses nothing, a function that trusts a secret
// at a path, and one that returns its complaints.
func OpenReceiver(
	tb interface{ Cleanup(f func()) },
) (url string, trust func(path, secret string), complaints func() []string) {
	r := newReceiver(1, 0)
	tb.Cleanup(r.server.Close)
	return r.server.URL, r.trust, func() []string { return r.complaints(nil) }
}

// JudgeTransaction returns the faults of a payment after the requests that made and changed it.
func JudgeTransaction(t v1.Transaction, calls ...*Call) []string {
	j := newJudge(calls)
	j.transactions = []v1.Transaction{t}
	j.transactionsAreRight()
	return j.faults
}
