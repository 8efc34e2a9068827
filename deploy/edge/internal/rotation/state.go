package rotation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/durable"
)

// stateFile is in the data folder, and only its owner can read it: it has private keys. A restart
// needs it to serve the present certificate while the next one is only published, because its files
// may be gone.
const stateFile = "certificates.json"

// state is the state that a restart needs.
type state struct {
	Live []stored  `json:"live"`
	Next []stored  `json:"next,omitempty"`
	At   time.Time `json:"at,omitzero"` // when next will be served
}

type stored struct {
	Chain string `json:"chain"`
	Key   string `json:"key"`
}

func store(pairs []*certfile.Pair) []stored {
	var out []stored
	for _, p := range pairs {
		out = append(out, stored{Chain: string(p.Chain), Key: p.Key.Reveal()})
	}
	return out
}

func restore(path string, all []stored) ([]*certfile.Pair, error) {
	var out []*certfile.Pair
	for _, s := range all {
		p, err := certfile.Parse(certfile.Files{Chain: path, Key: path}, []byte(s.Chain), []byte(s.Key))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (r *Rotation) load() error {
	if r.cfg.Folder == "" {
		return nil
	}
	if err := durable.MkdirAll(r.cfg.Folder, 0o700); err != nil {
		return fmt.Errorf("rotation: %w", err)
	}
	path := filepath.Join(r.cfg.Folder, stateFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s state
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	var live, next []*certfile.Pair
	if err == nil {
		live, err = restore(path, s.Live)
	}
	if err == nil {
		next, err = restore(path, s.Next)
	}
	if err != nil {
		return fmt.Errorf("rotation: the certificates that were served, %s, cannot be read and are left as they are "+
			"(move the file away to begin with the source's certificates): %w", path, err)
	}
	r.live, r.next, r.at = live, next, s.At
	return nil
}

// save writes the state. When it returns nil, the disk has all of it; on an error it has the
// previous state.
func (r *Rotation) save() error {
	if r.cfg.Folder == "" {
		return nil
	}
	text, err := json.Marshal(state{Live: store(r.live), Next: store(r.next), At: r.at})
	if err != nil {
		return fmt.Errorf("rotation: %w", err)
	}
	if err := durable.WriteFile(filepath.Join(r.cfg.Folder, stateFile), text, 0o600); err != nil {
		return fmt.Errorf("rotation: %w", err)
	}
	return nil
}
