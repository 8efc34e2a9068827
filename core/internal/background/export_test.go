package background

// KeepConfirming is keepConfirming.
var KeepConfirming = keepConfirming
