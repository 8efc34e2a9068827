module github.com/causeway-pay/causeway/deploy/clustertest

go 1.26.0

require (
	github.com/causeway-pay/causeway/deploy/standalone v0.0.0-00010101000000-000000000000
	github.com/causeway-pay/causeway/shared v0.0.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/sys v0.49.0 // indirect
	modernc.org/libc v1.78.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
)

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0
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
