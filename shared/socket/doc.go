// Package socket makes Unix sockets to which only their group can connect.
package socket
