package requirement

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Path is core's list of requirements.
const Path = "/v1/mle/requirements"

const (
	// MaxAge is how old the requirements can be while core can be reached.
	MaxAge = 30 * time.Second
	// retryPause is the pause after a failed read, also before the first one succeeds: core may
	// start after mle-filter.
	retryPause = time.Second

	readTimeout = 5 * time.Second
	maxResponse = 1 << 20
)

// Config locates core. All fields are required.
type Config struct {
	V1     string // the base URL of core's v1
	Client *http.Client
	Log    *slog.Logger
}

// Source keeps core's requirements. It is safe for concurrent use.
type Source struct {
	cfg  Config
	held atomic.Pointer[held]
}

// held are the requirements of the last successful read.
type held struct {
	list  []v1.MLERequirement
	rules []rule // one for each endpoint
}

// rule is a requirement for one endpoint.
type rule struct {
	table *policy.Table
	from  time.Time
}

// New returns a source without requirements. Run reads them.
func New(cfg Config) *Source {
	s := &Source{cfg: cfg}
	s.held.Store(&held{})
	return s
}

// Run reads the requirements again and again until ctx ends. If core cannot be reached, the
// requirements of the last read hold.
func (s *Source) Run(ctx context.Context) {
	for failed := false; ; {
		err := s.read(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "mle-filter: the announced requirements cannot be read; this is retried",
				slog.Any("error", err))
		}
		failed = err != nil
		pause := MaxAge
		if failed {
			pause = retryPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// All returns the requirements that are not withdrawn, oldest first.
func (s *Source) All() []v1.MLERequirement { return s.held.Load().list }

// InForce reports whether a requirement is in force for a request. The path is the request's,
// without its query. It implements engine.Announced.
func (s *Source) InForce(method, path string, now time.Time) bool {
	for _, r := range s.held.Load().rules {
		if !now.Before(r.from) && r.table.Rule(method, path, "").Request == policy.Required {
			return true
		}
	}
	return false
}

func (s *Source) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.cfg.V1, "/")+Path, nil)
	if err != nil {
		return fmt.Errorf("requirement: %w", err)
	}
	response, err := s.cfg.Client.Do(req)
	if err != nil {
		return fmt.Errorf("requirement: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // its body was read
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return fmt.Errorf("requirement: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("requirement: core responded %d", response.StatusCode)
	}
	var list v1.MLERequirementList
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("requirement: core's response: %w", err)
	}
	now, err := parse(list.Data)
	if err == nil {
		s.held.Store(now)
	}
	return err
}

// parse returns the rules of requirements. It returns an error for an endpoint that is not a method
// and a path.
func parse(list []v1.MLERequirement) (*held, error) {
	h := &held{list: list}
	for _, r := range list {
		for _, endpoint := range r.Endpoints {
			method, path, _ := strings.Cut(endpoint, " ")
			table, err := policy.New(policy.Config{
				Routes: []policy.Route{{Method: method, Path: path, MLE: policy.Required}},
			})
			if err != nil {
				return nil, fmt.Errorf("requirement: %s, endpoint %q: %w", r.ID, endpoint, err)
			}
			h.rules = append(h.rules, rule{table, r.EffectiveAt.Time})
		}
	}
	return h, nil
}
