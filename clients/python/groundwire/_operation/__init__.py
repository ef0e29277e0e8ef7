"""What can be asked of a server, without I/O: each call as a value that a client of either kind carries out."""
