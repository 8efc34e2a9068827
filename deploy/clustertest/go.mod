module github.com/causeway-pay/causeway/deploy/clustertest

go 1.26.0

require github.com/causeway-pay/causeway/shared v0.0.0

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace (
	github.com/causeway-pay/causeway/compat-proxy => ../../compat-proxy
	github.com/causeway-pay/causeway/core => ../../core
	github.com/causeway-pay/causeway/deploy/edge => ../edge
	github.com/causeway-pay/causeway/deploy/standalone => ../standalone
	github.com/causeway-pay/causeway/mle-filter => ../../mle-filter
	github.com/causeway-pay/causeway/shared => ../../shared
)
