package keyring

import (
	"context"
	"math"
	"time"

	"github.com/causeway-pay/causeway/shared/batch"
)

// readTimeout bounds one read of the store while a request waits.
const readTimeout = 2 * time.Second

// revisionQuery reads the revision of the store, once for all waiting callers. A caller that
// arrives during a query waits for the next one, because its revision must not be older than the
// call. So each use of a key sees every write that was acknowledged before the use began.
type revisionQuery struct{ queue batch.Queue[*int64] }

func newRevisionQuery(revision func(context.Context) (int64, error)) *revisionQuery {
	q := &revisionQuery{}
	q.queue.Size = math.MaxInt
	q.queue.Commit = func(all []*int64) error {
		ctx, cancel := context.WithTimeout(context.Background(), readTimeout) // no caller can cancel the others' query
		defer cancel()
		n, err := revision(ctx)
		for _, result := range all {
			*result = n
		}
		return err
	}
	return q
}

// now returns a revision that the store had after the call began.
func (q *revisionQuery) now(ctx context.Context) (revision int64, err error) {
	err = q.queue.Do(ctx, &revision)
	return revision, err
}
