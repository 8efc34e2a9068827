package datadir

import (
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The environment variables that hold secrets. A variable with the suffix _FILE holds the path of a
// file with the secret instead.
const (
	// KEKVariable is the key-encryption key of the vault.
	KEKVariable = "CAUSEWAY_VAULT_KEK"
	// OldKEKVariable is the previous key-encryption key of the vault.
	OldKEKVariable = "CAUSEWAY_VAULT_OLD_KEK"
	// FilterTokenVariable is the token of mle-filter and the edge at the operator's API.
	FilterTokenVariable = "CAUSEWAY_FILTER_TOKEN"
	// FilterSecretVariable is the secret that mle-filter sends with every request.
	FilterSecretVariable = "CAUSEWAY_FILTER_SECRET"
)

// KEK reads the key-encryption key of the vault. It returns zero if none is set.
func KEK(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, KEKVariable)
}

// OldKEK reads the previous key-encryption key of the vault. It returns zero if none is set.
func OldKEK(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, OldKEKVariable)
}

// FilterToken reads the token of mle-filter and the edge. It returns zero if none is set.
func FilterToken(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, FilterTokenVariable)
}

// FilterSecret reads the secret of mle-filter. It returns zero if none is set.
func FilterSecret(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, FilterSecretVariable)
}
