package core

import "github.com/causeway-pay/causeway/core/internal/store/sqlite"

// The functions of the file engine. Only this file of the product imports it.
var (
	openFile          = sqlite.Open
	explainFile       = sqlite.Explain
	backupFile        = sqlite.Backup
	verifyFile        = sqlite.Verify
	backupHoldsSealed = sqlite.BackupHoldsSealed
)
