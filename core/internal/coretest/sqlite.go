package coretest

import "github.com/causeway-pay/causeway/core/internal/store/sqlite"

func init() { files = fileEngine{open: sqlite.Open, attach: sqlite.AttachCodes} }
