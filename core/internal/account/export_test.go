package account

// CheckBaseURL checks the base URL of an acquirer.
var CheckBaseURL = checkBaseURL
