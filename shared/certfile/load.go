package certfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Load reads the pair and checks it. The error is a *RefusalError.
func (f Files) Load(now time.Time, rules Rules) (pair *Pair, warnings []Reason, err error) {
	if pair, err = f.Read(); err != nil {
		return nil, nil, err
	}
	if warnings, err = rules.Check(now, pair); err != nil {
		return nil, warnings, err
	}
	return pair, warnings, nil
}

// Folder returns the pairs of a folder: each *.crt with the *.key of the same name. It skips names
// that begin with a dot, which Kubernetes uses. It skips a ca.crt without a key, which cert-manager
// writes into the folder too. The error is a *RefusalError.
func Folder(path string) ([]Files, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, refuse([]Reason{{File: path, Code: Unreadable, Text: bare(err).Error()}})
	}
	var pairs []Files
	for _, entry := range entries {
		stem, ok := strings.CutSuffix(entry.Name(), ".crt")
		if !ok || strings.HasPrefix(stem, ".") {
			continue
		}
		pair := Files{Chain: filepath.Join(path, entry.Name()), Key: filepath.Join(path, stem+".key")}
		if _, err := os.Stat(pair.Key); stem == "ca" && errors.Is(err, os.ErrNotExist) {
			continue
		}
		pairs = append(pairs, pair)
	}
	switch {
	case len(pairs) == 0:
		return nil, refuse([]Reason{{
			File: path, Code: PairsUnfit, Text: "contains no *.crt file with a *.key file of the same name",
		}})
	case len(pairs) > 2:
		return nil, refuse([]Reason{{File: path, Code: PairsUnfit, Text: "contains more than two pairs: " + names(pairs)}})
	}
	return pairs, nil
}

func names(pairs []Files) string {
	var of []string
	for _, p := range pairs {
		of = append(of, filepath.Base(p.Chain))
	}
	return strings.Join(of, ", ")
}

// LoadAll loads one pair, or an ECDSA and an RSA pair, and returns the RSA pair second. If one pair
// is rejected, it returns an error and no pair.
func LoadAll(now time.Time, rules Rules, files []Files) (pairs []*Pair, warnings []Reason, err error) {
	var reasons []Reason
	for _, f := range files {
		pair, warned, err := f.Load(now, rules)
		warnings = append(warnings, warned...)
		if refusal := (*RefusalError)(nil); errors.As(err, &refusal) {
			reasons = append(reasons, refusal.Reasons...)
			continue
		}
		pairs = append(pairs, pair)
	}
	if len(reasons) > 0 {
		return nil, warnings, refuse(reasons)
	}
	slices.SortStableFunc(pairs, func(a, b *Pair) int { return strings.Compare(a.algorithm(), b.algorithm()) })
	if err := rules.Together(pairs); err != nil {
		return nil, warnings, err
	}
	return pairs, warnings, nil
}

// digest returns a digest of the contents of the files, or of the errors of unreadable ones.
func digest(files []Files) string {
	sum := sha256.New()
	for _, f := range files {
		for _, of := range []struct {
			name  string
			limit int64
		}{{f.Chain, maxChain}, {f.Key, maxKey}} {
			data, err := readFile(of.name, of.limit)
			if err != nil {
				data = []byte(err.Error())
			}
			part := sha256.Sum256(data)
			_, _ = sum.Write([]byte(of.name + "\x00")) // a hash returns no error
			_, _ = sum.Write(part[:])
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
